"""The token endpoint with a refresh token (RFC 6749 6): rotation, reuse, scopes and ends."""

from __future__ import annotations

import pytest

from idp.records import APPLICATIONS, AUTHORIZATIONS
from storage import Update
from tests.support.attacks import forged
from tests.support.attacks.forged import part
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.store.stored import everything

DAY = 86400


@pytest.fixture
def refresh(visitor, demo):
    async def refresh(token: str, **changes) -> dict:
        return assert_granted(await demo.refresh(visitor, token, **changes))

    return refresh


async def userinfo_status(visitor, client, tokens) -> int:
    return (await client.userinfo(visitor, tokens["access_token"])).status


@pytest.mark.promise(
    "token: refresh_token",
    "token endpoint: refresh",
    "token endpoint: refreshed ID token",
    "refresh: grant_type",
    "refresh: response",
)
async def test_a_refresh_gives_new_tokens_of_the_same_sign_in(server, tokens, refresh):
    server.clock.advance(100)
    fresh = await refresh(tokens["refresh_token"])
    old, new = part(tokens["id_token"], 1), part(fresh["id_token"], 1)

    assert set(fresh) == set(tokens)
    assert fresh["scope"] == tokens["scope"]
    assert fresh["refresh_token"] != tokens["refresh_token"]
    assert fresh["access_token"] != tokens["access_token"]
    assert {name: new[name] for name in ("iss", "sub", "aud", "azp", "auth_time", "sid")} == {
        name: old[name] for name in ("iss", "sub", "aud", "azp", "auth_time", "sid")
    }
    assert new["iat"] == old["iat"] + 100
    assert "nonce" not in new


async def test_both_access_tokens_work_after_a_refresh(visitor, demo, tokens, refresh):
    fresh = await refresh(tokens["refresh_token"])

    assert await userinfo_status(visitor, demo, fresh) == 200
    assert await userinfo_status(visitor, demo, tokens) == 200


@pytest.mark.full
async def test_a_refresh_changes_one_record_and_stores_no_event(server, tokens, refresh):
    before = await everything(server.store)
    await refresh(tokens["refresh_token"])
    after = await everything(server.store)

    assert {name for name in after if after[name] != before[name]} == {AUTHORIZATIONS.name}


@pytest.mark.promise("token: refresh_token", "code: single use")
async def test_refresh_tokens_are_random_enough_and_are_stored_as_hashes(server, tokens, refresh):
    fresh = await refresh(tokens["refresh_token"])
    stored = repr(await everything(server.store))
    texts = [tokens["refresh_token"], fresh["refresh_token"]]

    assert {len(text) for text in texts} == {22 + 43 + 43}
    assert all(text.isascii() for text in texts)
    assert not any(text[22:65] in stored or text[65:] in stored for text in texts)


ENDS = ("authorization.revoked", "token.refresh_repeated")


@pytest.mark.promise("refresh: refresh_token")
@pytest.mark.parametrize("generation", range(5))
async def test_reusing_any_earlier_generation_ends_the_family(
    server, visitor, demo, tokens, refresh, generation
):
    tree = [tokens]
    for _ in range(5):
        tree.append(await refresh(tree[-1]["refresh_token"]))
    reuse = await demo.refresh(visitor, tree[generation]["refresh_token"])
    newest = await demo.refresh(visitor, tree[-1]["refresh_token"])
    events = (await everything(server.store))["events"].values()

    assert_refused(reuse, 400, "invalid_grant")
    assert_refused(newest, 400, "invalid_grant")
    assert {await userinfo_status(visitor, demo, one) for one in tree} == {401}
    ends = [event for event in events if event.type in ENDS]
    is_repeated = generation == 4  # its successor was never used
    assert [event.type for event in ends] == [ENDS[is_repeated]]
    assert dict(ends[0].payload).get("cause") == (None if is_repeated else "replay")


async def test_the_end_of_a_family_leaves_other_sign_ins_alone(
    server, visitor, demo, tokens, refresh, new_visitor
):
    other = await demo.tokens(new_visitor(), *server.user)
    await refresh(tokens["refresh_token"])
    await demo.refresh(visitor, tokens["refresh_token"])

    assert await userinfo_status(visitor, demo, other) == 200
    await refresh(other["refresh_token"])


REFUSED = {
    "no refresh_token": ({"refresh_token": None}, "invalid_request"),
    "an empty one": ({"refresh_token": ""}, "invalid_request"),
    "two of them": ({"refresh_token": ["rt-1", "rt-1"]}, "invalid_request"),
    "an unknown one": ({"refresh_token": "A" * 108}, "invalid_grant"),
    "one of another shape": ({"refresh_token": "\0\u00e9"}, "invalid_grant"),
    "one of 10 KB": ({"refresh_token": "r" * 10_000}, "invalid_grant"),
    "a larger scope": ({"scope": "openid phone"}, "invalid_scope"),
    "an unknown scope": ({"scope": "openid admin"}, "invalid_scope"),
    "a scope in capitals": ({"scope": "OPENID"}, "invalid_scope"),
    "a malformed scope": ({"scope": 'openid "x"'}, "invalid_scope"),
    "a scope of tabs": ({"scope": "openid\temail"}, "invalid_scope"),
    "a scope of nothing": ({"scope": " "}, "invalid_scope"),
    "two scopes": ({"scope": ["openid", "openid"]}, "invalid_request"),
    "a grant_type that is none": ({"grant_type": "refresh"}, "unsupported_grant_type"),
}


@pytest.mark.promise(
    "token error: invalid_scope",
    "token error: unsupported_grant_type",
    "token error: invalid_grant",
)
async def test_a_refused_refresh_leaves_the_token_usable(server, visitor, demo, tokens, refresh):
    before = await everything(server.store)
    for name, (changes, error) in REFUSED.items():
        form = {"refresh_token": tokens["refresh_token"]} | changes
        token = form.pop("refresh_token")
        assert_refused(await demo.refresh(visitor, token, **form), 400, error, name)

    assert await everything(server.store) == before
    await refresh(tokens["refresh_token"])


@pytest.mark.promise("token endpoint: refresh", "token error: invalid_grant")
async def test_another_client_s_refresh_token_is_an_invalid_grant_and_stays_good(
    server, visitor, tokens, refresh
):
    before = await everything(server.store)
    for client in (await server.register(), await server.register(auth_method="none")):
        page = await client.refresh(visitor, tokens["refresh_token"])
        assert_refused(page, 400, "invalid_grant")
    after = await everything(server.store)

    assert after[AUTHORIZATIONS.name] == before[AUTHORIZATIONS.name]
    await refresh(tokens["refresh_token"])


async def test_another_client_s_spent_refresh_token_ends_nothing(
    server, visitor, demo, tokens, refresh
):
    fresh = await refresh(tokens["refresh_token"])
    other = await server.register()
    await other.refresh(visitor, tokens["refresh_token"])

    assert await userinfo_status(visitor, demo, fresh) == 200


async def test_a_spent_token_without_the_client_s_secret_ends_nothing(
    visitor, demo, tokens, refresh
):
    fresh = await refresh(tokens["refresh_token"])
    page = await demo.refresh(visitor, tokens["refresh_token"], {"Authorization": "Basic eDp5"})

    assert_refused(page, 401, "invalid_client")
    assert await userinfo_status(visitor, demo, fresh) == 200


@pytest.mark.full
async def test_a_forged_family_with_a_genuine_id_writes_nothing(
    server, visitor, demo, tokens, refresh
):
    genuine = tokens["refresh_token"]
    id, family, secret = genuine[:22], genuine[22:65], genuine[65:]
    texts = [id + "A" * 86, id + "A" * 43 + secret, id + secret + family]
    texts += list(forged.changed(genuine))[:65]
    texts += [*forged.cut(genuine), *forged.longer(genuine)]
    before = await everything(server.store)
    for text in texts:
        assert_refused(await demo.refresh(visitor, text), 400, "invalid_grant", text)

    assert await everything(server.store) == before
    await refresh(genuine)


@pytest.mark.parametrize("at", [65, 86, 107])
async def test_a_genuine_family_with_another_secret_counts_as_reuse(
    visitor, demo, tokens, refresh, at
):
    hostile = list(forged.changed(tokens["refresh_token"]))[at]

    assert_refused(await demo.refresh(visitor, hostile), 400, "invalid_grant")
    assert await userinfo_status(visitor, demo, tokens) == 401


@pytest.mark.promise("refresh: scope")
async def test_a_narrower_scope_holds_for_one_response(visitor, demo, tokens, refresh):
    narrow = await refresh(tokens["refresh_token"], scope="openid email")
    claims = (await demo.userinfo(visitor, narrow["access_token"])).json()
    wide = await refresh(narrow["refresh_token"])

    assert narrow["scope"] == "openid email"
    assert "name" not in claims
    assert wide["scope"] == tokens["scope"]
    assert "refresh_token" in wide


@pytest.mark.promise("token endpoint: refresh", "refresh: scope")
@pytest.mark.parametrize(
    "scope", ["openid offline_access", "email openid", "openid openid", "offline_access"]
)
async def test_any_part_of_the_scope_in_any_order_may_be_asked_for(tokens, refresh, scope):
    fresh = await refresh(tokens["refresh_token"], scope=scope)

    assert fresh["scope"] == " ".join(dict.fromkeys(scope.split()))


async def test_without_openid_there_is_no_id_token(visitor, demo, tokens, refresh):
    fresh = await refresh(tokens["refresh_token"], scope="profile")

    assert "id_token" not in fresh
    assert await userinfo_status(visitor, demo, fresh) == 403


@pytest.mark.promise("refresh: scope", "token error: invalid_scope")
async def test_a_scope_that_was_not_granted_at_first_never_comes(server, visitor, demo, refresh):
    tokens = await demo.tokens(visitor, *server.user, scope="openid offline_access")
    page = await demo.refresh(visitor, tokens["refresh_token"], scope="openid email")

    assert_refused(page, 400, "invalid_scope")


@pytest.mark.promise("token error: unauthorized_client")
async def test_a_client_that_lost_the_grant_may_not_refresh(server, visitor, demo, tokens):
    changes = {"grant_types": ["authorization_code"]}
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set=changes))

    page = await demo.refresh(visitor, tokens["refresh_token"])

    assert_refused(page, 400, "unauthorized_client")


@pytest.mark.promise("token error: invalid_grant")
async def test_a_refresh_token_idles_out_after_thirty_days(
    server, visitor, demo, tokens, refresh, new_visitor
):
    used, unused = tokens, await demo.tokens(new_visitor(), *server.user)
    server.clock.advance(30 * DAY - 1)
    used = await refresh(used["refresh_token"])
    server.clock.advance(1)

    assert_refused(await demo.refresh(visitor, unused["refresh_token"]), 400, "invalid_grant")
    await refresh(used["refresh_token"])


async def test_a_refresh_token_ends_after_ninety_days_however_often_it_is_used(
    server, visitor, demo, tokens, refresh
):
    for _ in range(8):
        server.clock.advance(10 * DAY)
        tokens = await refresh(tokens["refresh_token"])
    server.clock.advance(10 * DAY - 1)
    tokens = await refresh(tokens["refresh_token"])
    server.clock.advance(1)

    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")


async def test_an_expired_refresh_token_is_not_revived_by_a_clock_that_goes_back(
    server, visitor, demo, tokens, refresh
):
    fresh = await refresh(tokens["refresh_token"])
    server.clock.advance(-3600)

    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")
    assert_refused(await demo.refresh(visitor, fresh["refresh_token"]), 400, "invalid_grant")


async def test_offline_access_outlives_the_session_and_names_it_no_more(
    server, visitor, demo, tokens, refresh
):
    await visitor.get(demo.logout_url(id_token_hint=tokens["id_token"]))
    fresh = await refresh(tokens["refresh_token"])

    assert await userinfo_status(visitor, demo, tokens) == 401
    assert await userinfo_status(visitor, demo, fresh) == 200
    assert "sid" in part(tokens["id_token"], 1)
    assert "sid" not in part(fresh["id_token"], 1)


async def test_an_idle_session_ends_sign_ins_not_tokens(server, visitor, demo, tokens):
    server.clock.advance(12 * 3600 - 1)

    assert await userinfo_status(visitor, demo, tokens) == 200


@pytest.mark.promise("client authentication: none", "refresh: none")
async def test_a_public_client_refreshes_with_its_client_id_alone(server, visitor):
    client = await server.register(auth_method="none")
    tokens = await client.tokens(visitor, *server.user)
    fresh = assert_granted(await client.refresh(visitor, tokens["refresh_token"]))
    reuse = await client.refresh(visitor, tokens["refresh_token"])

    assert_refused(reuse, 400, "invalid_grant")
    assert await userinfo_status(visitor, client, fresh) == 401


async def test_a_token_that_is_refreshed_at_the_end_of_the_session_lives_its_full_time(
    server, visitor, demo, tokens, refresh
):
    server.clock.advance(15 * DAY)
    tokens = await refresh(tokens["refresh_token"])
    server.clock.advance(15 * DAY + 6 * 3600)
    tokens = await refresh(tokens["refresh_token"])
    server.clock.advance(tokens["expires_in"] - 1)

    assert await userinfo_status(visitor, demo, tokens) == 200
