"""The token endpoint with an authorization code (RFC 6749 4.1.3, RFC 7636 4.5 and 4.6)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCES,
    ORGANIZATIONS,
    USERS,
    Organization,
)
from storage import Insert, Unavailable, Update
from tests.support.attacks import forged
from tests.support.attacks.forged import part
from tests.support.browsers.wire import FORM
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.protocol.relying_party import VERIFIER
from tests.support.store.stored import everything

TOKEN = "/oauth/v2/token"


async def userinfo_status(visitor, client, tokens) -> int:
    return (await client.userinfo(visitor, tokens["access_token"])).status


@pytest.mark.promise(
    "service: authorization server",
    "token: authorization code",
    "token endpoint: form and JSON",
    "code: grant_type",
    "code: response",
)
async def test_a_code_is_exchanged_for_tokens(visitor, demo, code):
    body = assert_granted(await demo.redeem(visitor, code))

    assert set(body) == {
        "access_token",
        "token_type",
        "expires_in",
        "scope",
        "refresh_token",
        "id_token",
    }
    assert body["scope"] == "openid profile email offline_access"
    assert body["expires_in"] == 12 * 3600


@pytest.mark.promise("scope: offline_access", "code: response")
async def test_without_offline_access_there_is_no_refresh_token(visitor, demo, new_code):
    body = assert_granted(await demo.redeem(visitor, await new_code(scope="openid")))

    assert "refresh_token" not in body
    assert body["scope"] == "openid"


@pytest.mark.promise("scope: offline_access")
async def test_offline_access_is_dropped_for_a_client_without_the_refresh_grant(
    server, visitor, new_code
):
    client = await server.register(grant_types=["authorization_code"])
    body = assert_granted(await client.redeem(visitor, await new_code(client)))

    assert "refresh_token" not in body
    assert body["scope"] == "openid profile email"


async def test_the_right_to_refresh_counts_when_the_code_is_redeemed(server, visitor, demo, code):
    changes = {"grant_types": ["authorization_code"]}
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set=changes))
    body = assert_granted(await demo.redeem(visitor, code))

    assert "refresh_token" not in body
    assert "offline_access" not in body["scope"]


async def test_redeeming_stores_no_event_and_one_change(server, visitor, demo, code):
    before = await everything(server.store)
    await demo.redeem(visitor, code)
    after = await everything(server.store)
    changed = {name for name in after if after[name] != before[name]}

    assert changed == {AUTHORIZATIONS.name}


REFUSED = {
    "no grant_type": ({"grant_type": None}, "invalid_request"),
    "an empty grant_type": ({"grant_type": ""}, "invalid_request"),
    "an unknown grant_type": ({"grant_type": "magic"}, "unsupported_grant_type"),
    "grant_type password": ({"grant_type": "password"}, "unsupported_grant_type"),
    "grant_type in capitals": ({"grant_type": "AUTHORIZATION_CODE"}, "unsupported_grant_type"),
    "no code": ({"code": None}, "invalid_request"),
    "an empty code": ({"code": ""}, "invalid_request"),
    "an unknown code": ({"code": "A" * 65}, "invalid_grant"),
    "a code of another shape": ({"code": "\0\u00e9"}, "invalid_grant"),
    "a code of 10 KB": ({"code": "c" * 10_000}, "invalid_grant"),
    "no redirect_uri": ({"redirect_uri": None}, "invalid_request"),
    "an empty redirect_uri": ({"redirect_uri": ""}, "invalid_request"),
    "another redirect_uri": ({"redirect_uri": "https://evil.example/cb"}, "invalid_grant"),
    "no verifier": ({"code_verifier": None}, "invalid_grant"),
    "an empty verifier": ({"code_verifier": ""}, "invalid_grant"),
    "another verifier": ({"code_verifier": "x" * 43}, "invalid_grant"),
    "a verifier of 42": ({"code_verifier": "x" * 42}, "invalid_grant"),
    "a verifier of 129": ({"code_verifier": "x" * 129}, "invalid_grant"),
    "a verifier cut": ({"code_verifier": VERIFIER[:-1]}, "invalid_grant"),
    "a verifier in capitals": ({"code_verifier": VERIFIER.upper()}, "invalid_grant"),
    "a verifier and a line": ({"code_verifier": VERIFIER + "\n"}, "invalid_grant"),
    "a verifier with NUL": ({"code_verifier": VERIFIER + "\0"}, "invalid_grant"),
    "a verifier in other letters": ({"code_verifier": "\u00e9" * 50}, "invalid_grant"),
}


@pytest.mark.promise(
    "authorization: code_challenge",
    "authorization: parameters",
    "token endpoint: invalid_grant",
    "token endpoint: other errors",
    "code: code",
    "code: redirect_uri",
    "code: code_verifier",
    "token error: invalid_request",
    "token error: unsupported_grant_type",
    "token error: invalid_grant",
)
async def test_a_refused_exchange_spends_nothing(server, visitor, demo, code):
    before = await everything(server.store)
    for name, (wrong, error) in REFUSED.items():
        changes = {"code": code} | wrong
        page = await demo.redeem(visitor, changes.pop("code"), **changes)
        assert_refused(page, 400, error, name)
    after = await everything(server.store)

    assert after == before
    assert_granted(await demo.redeem(visitor, code))


REPEATED = ["grant_type", "code", "redirect_uri", "code_verifier", "client_id", "client_secret"]


@pytest.mark.promise("token endpoint: other errors", "token error: invalid_request")
@pytest.mark.parametrize("name", [*REPEATED, "scope", "refresh_token", "client_assertion"])
@pytest.mark.parametrize("second", ["same", "other"])
async def test_a_repeated_parameter_is_refused(server, visitor, demo, code, name, second):
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": demo.redirect_uri,
        "code_verifier": VERIFIER,
    }
    first = form.get(name, "once")
    pairs = [*form.items(), *([] if name in form else [(name, first)])]
    content = urlencode([*pairs, (name, first if second == "same" else "other")])
    before = await everything(server.store)
    page = await visitor.post(
        TOKEN, content=content, headers={"Content-Type": FORM} | demo.basic()
    )

    assert_refused(page, 400, "invalid_request")
    assert await everything(server.store) == before
    assert_granted(await demo.redeem(visitor, code))


@pytest.mark.promise("exchange: invalid_target")
async def test_an_unknown_parameter_is_ignored_even_twice(visitor, demo, code):
    assert_granted(await demo.redeem(visitor, code, resource=["a", "b"], nonsense="x"))


@pytest.mark.promise(
    "token endpoint: other errors", "code: grant_type", "token error: unauthorized_client"
)
async def test_a_client_without_the_grant_is_unauthorized(server, visitor, code):
    client = await server.register(grant_types=["refresh_token"])

    assert_refused(await client.redeem(visitor, code), 400, "unauthorized_client")


@pytest.mark.promise("token endpoint: invalid_grant", "token error: invalid_grant")
async def test_a_code_of_another_client_is_refused_and_stays_good(server, visitor, demo, code):
    for client in (
        await server.register(redirect_uris=[demo.redirect_uri]),
        await server.register(redirect_uris=[demo.redirect_uri], auth_method="none"),
    ):
        assert_refused(await client.redeem(visitor, code), 400, "invalid_grant")

    assert_granted(await demo.redeem(visitor, code))


@pytest.mark.promise("code: code_verifier")
async def test_a_verifier_without_a_challenge_is_refused(visitor, demo, new_code):
    code = await new_code(code_challenge=None, code_challenge_method=None)

    assert_refused(await demo.redeem(visitor, code), 400, "invalid_grant")
    assert_granted(await demo.redeem(visitor, code, code_verifier=None))


@pytest.mark.promise(
    "token: authorization code",
    "token endpoint: reused code",
    "code: single use",
    "token error: invalid_grant",
)
@pytest.mark.parametrize("seconds", [0, 30, 3600])
async def test_a_replayed_code_ends_every_token_that_came_of_it(
    server, visitor, demo, code, seconds
):
    tokens = assert_granted(await demo.redeem(visitor, code))
    refreshed = (await demo.refresh(visitor, tokens["refresh_token"])).json()
    server.clock.advance(seconds)
    replay = await demo.redeem(visitor, code)
    late = await demo.refresh(visitor, refreshed["refresh_token"])

    assert_refused(replay, 400, "invalid_grant")
    assert await userinfo_status(visitor, demo, tokens) == 401
    assert await userinfo_status(visitor, demo, refreshed) == 401
    assert_refused(late, 400, "invalid_grant")


async def test_a_replay_is_recorded_once(server, visitor, demo, code):
    await demo.redeem(visitor, code)
    for _ in range(3):
        assert_refused(await demo.redeem(visitor, code), 400, "invalid_grant")
    events = (await everything(server.store))["events"].values()

    (revoked,) = [event for event in events if event.type == "authorization.revoked"]
    assert dict(revoked.payload)["cause"] == "replay"


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://evil.example/cb"},
        {"code_verifier": "x" * 43},
        {"code_verifier": None},
    ],
)
async def test_a_replay_with_something_wrong_ends_nothing(visitor, demo, code, changes):
    tokens = assert_granted(await demo.redeem(visitor, code))
    await demo.redeem(visitor, code, **changes)

    assert await userinfo_status(visitor, demo, tokens) == 200
    assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))


async def test_a_replay_by_another_client_or_without_its_secret_ends_nothing(
    server, visitor, demo, code
):
    tokens = assert_granted(await demo.redeem(visitor, code))
    other = await server.register(redirect_uris=[demo.redirect_uri])
    await other.redeem(visitor, code)
    await demo.redeem(visitor, code, headers={"Authorization": "Basic eDp5"})

    assert await userinfo_status(visitor, demo, tokens) == 200


@pytest.mark.promise(
    "token endpoint: invalid_grant", "code: single use", "token error: invalid_grant"
)
async def test_a_code_lives_for_sixty_seconds(server, visitor, demo, code, new_code):
    second = await new_code()
    server.clock.advance(59.9)
    in_time = await demo.redeem(visitor, code)
    server.clock.advance(0.1)
    too_late = await demo.redeem(visitor, second)

    assert_granted(in_time)
    assert_refused(too_late, 400, "invalid_grant")


async def test_a_clock_that_goes_back_revives_no_spent_code(server, visitor, demo, code):
    await demo.redeem(visitor, code)
    server.clock.advance(-3600)

    assert_refused(await demo.redeem(visitor, code), 400, "invalid_grant")


@pytest.mark.full
@pytest.mark.promise("code: code")
async def test_no_changed_cut_or_longer_code_is_accepted(server, visitor, demo, code):
    before = await everything(server.store)
    for hostile in (*forged.changed(code), *forged.cut(code), *forged.longer(code)):
        assert_refused(await demo.redeem(visitor, hostile), 400, "invalid_grant", hostile)

    assert await everything(server.store) == before
    assert_granted(await demo.redeem(visitor, code))


@pytest.mark.promise("logout: afterwards")
async def test_after_the_logout_a_code_is_invalid(server, visitor, demo, new_code):
    tokens = assert_granted(await demo.redeem(visitor, await new_code()))
    code = await new_code()
    await visitor.get(demo.logout_url(id_token_hint=tokens["id_token"]))

    assert_refused(await demo.redeem(visitor, code), 400, "invalid_grant")


STANDING = {
    "the user is inactive": (USERS, {"state": "inactive"}),
    "the user is locked": (USERS, {"state": "locked"}),
    "the user's stamp is new": (USERS, {"stamp": "new"}),
    "the client's stamp is new": (APPLICATIONS, {"stamp": "new"}),
    "the organization is inactive": (ORGANIZATIONS, {"state": "inactive"}),
    "the organization's stamp is new": (ORGANIZATIONS, {"stamp": "new"}),
    "the instance's stamp is new": (INSTANCES, {"stamp": "new"}),
}


def key_of(found: dict, collection, demo) -> str:
    """The record of the demo that a grant depends on."""
    if collection is USERS:
        return next(id for id, user in found["users"].items() if user.user_name == "demo")
    return demo.client_id if collection is APPLICATIONS else next(iter(found[collection.name]))


@pytest.mark.promise("token error: invalid_grant")
@pytest.mark.parametrize(("collection", "changes"), STANDING.values(), ids=STANDING.keys())
async def test_code_and_tokens_end_with_everything_they_depend_on(
    server, visitor, demo, new_code, collection, changes
):
    tokens = assert_granted(await demo.redeem(visitor, await new_code()))
    code = await new_code()
    id = key_of(await everything(server.store), collection, demo)
    await server.store.commit(Update(collection, id, set=changes))
    before = await everything(server.store)

    assert_refused(await demo.redeem(visitor, code), 400, "invalid_grant")
    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")
    assert await userinfo_status(visitor, demo, tokens) == 401
    assert await everything(server.store) == before


@pytest.mark.parametrize("changes", [{"state": "inactive"}, {"stamp": "new"}])
async def test_code_and_tokens_end_with_the_organization_of_the_client_too(
    server, visitor, new_code, changes
):
    client, now = await server.register(), server.clock.now()
    other = Organization(
        id="other",
        name="Other",
        name_key="other",
        primary_domain="other.example",
        stamp="s",
        created_at=now,
        changed_at=now,
    )
    await server.store.commit(
        Insert(ORGANIZATIONS, other),
        Update(APPLICATIONS, client.client_id, set={"org_id": other.id}),
    )
    tokens = assert_granted(await client.redeem(visitor, await new_code(client)))
    code = await new_code(client)
    before = await userinfo_status(visitor, client, tokens)
    await server.store.commit(Update(ORGANIZATIONS, other.id, set=changes))

    assert before == 200
    assert_refused(await client.redeem(visitor, code), 400, "invalid_grant")
    assert_refused(await client.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")
    assert await userinfo_status(visitor, client, tokens) == 401


async def test_nothing_revives_by_a_reactivation_under_a_new_stamp(
    server, visitor, demo, new_code
):
    tokens = assert_granted(await demo.redeem(visitor, await new_code()))
    user = part(tokens["id_token"], 1)["sub"]
    off = {"state": "inactive", "stamp": "new"}
    await server.store.commit(Update(USERS, user, set=off))
    await server.store.commit(Update(USERS, user, set={"state": "active"}))

    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")
    assert await userinfo_status(visitor, demo, tokens) == 401


@pytest.mark.promise("token error: server_error")
async def test_a_store_that_does_not_answer_is_503_and_the_code_stays_good(
    server, visitor, demo, code, monkeypatch
):
    async def fail(*_):
        raise Unavailable("no primary")

    visitor.may_fail = True
    with monkeypatch.context() as patch:
        patch.setattr(server.store, "commit", fail)
        page = await demo.redeem(visitor, code)

    assert_refused(page, 503, "server_error")
    assert page.headers["Retry-After"] == "2"
    assert_granted(await demo.redeem(visitor, code))
