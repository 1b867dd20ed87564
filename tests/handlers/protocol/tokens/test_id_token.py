"""ID tokens: exact claims, verified by jwcrypto (OpenID Connect Core 2)."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest
from jwcrypto.jwk import JWKSet
from jwcrypto.jwt import JWT

from idp.records import SESSIONS, USERS
from storage import Update
from tests.support.attacks import forged
from tests.support.attacks.forged import part
from tests.support.store.stored import only

SCOPE = "openid profile email phone address offline_access"


@pytest.fixture
def tokens(io_loop, server, visitor, demo) -> dict:
    return io_loop.run_sync(lambda: demo.tokens(visitor, *server.user, scope=SCOPE))


def left_half(value: str) -> str:
    digest = hashlib.sha256(value.encode()).digest()[:16]
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@pytest.mark.promise("keys: kid", "ID token: signature and claims")
async def test_it_verifies_by_the_published_key_of_its_kid(visitor, tokens):
    keys = JWKSet.from_json((await visitor.get("/oauth/v2/keys")).text)
    token = tokens["id_token"]
    verified = JWT(jwt=token, key=keys.get_key(part(token, 0)["kid"]), algs=["RS256"])

    assert json.loads(verified.claims) == part(token, 1)
    assert part(token, 0) == {"alg": "RS256", "typ": "JWT", "kid": part(token, 0)["kid"]}


@pytest.mark.promise(
    "token: id_token",
    "discovery: issuer",
    "authorization: claims of scopes",
    "ID token: signature and claims",
    "ID token: nothing else",
    "ID token: acr and sid",
)
async def test_it_has_exactly_these_claims(server, visitor, demo, tokens):
    now = int(server.clock.now().timestamp())
    userinfo = await demo.userinfo(visitor, tokens["access_token"])

    assert part(tokens["id_token"], 1) == {
        "iss": server.issuer,
        "sub": userinfo.json()["sub"],
        "aud": demo.client_id,
        "azp": demo.client_id,
        "exp": now + 12 * 3600,
        "iat": now,
        "auth_time": now,
        "nonce": "nonce-1",
        "amr": ["pwd"],
        "acr": "urn:idp:acr:password",
        "at_hash": left_half(tokens["access_token"]),
        "sid": (await only(server.store, SESSIONS)).id,
    }


@pytest.mark.promise("session: auth_time")
async def test_instants_are_whole_seconds_even_between_two_of_them(server, visitor, demo):
    server.clock.advance(0.999)
    claims = part((await demo.tokens(visitor, *server.user))["id_token"], 1)

    assert {type(claims[name]) for name in ("iat", "exp", "auth_time")} == {int}
    assert claims["iat"] <= server.clock.now().timestamp()


@pytest.mark.promise("ID token: at_hash")
@pytest.mark.parametrize("access_token_type", ["jwt", "opaque"])
async def test_at_hash_fits_the_access_token_after_a_refresh_too(
    server, visitor, access_token_type
):
    client = await server.register(access_token_type=access_token_type)
    tokens = await client.tokens(visitor, *server.user)
    fresh = (await client.refresh(visitor, tokens["refresh_token"])).json()

    for answer in (tokens, fresh):
        at_hash = part(answer["id_token"], 1)["at_hash"]
        assert at_hash == left_half(answer["access_token"])


@pytest.mark.promise("session: auth_time")
async def test_auth_time_is_the_password_check_not_the_request(server, visitor, demo, tokens):
    server.clock.advance(1000)
    answer = await demo.silently(visitor)
    silent = (await demo.redeem(visitor, answer["code"])).json()
    refreshed = (await demo.refresh(visitor, tokens["refresh_token"])).json()
    first = part(tokens["id_token"], 1)["auth_time"]

    assert part(silent["id_token"], 1)["auth_time"] == first
    assert part(refreshed["id_token"], 1)["auth_time"] == first


@pytest.mark.promise("ID token: acr and sid")
async def test_two_browsers_have_two_sessions_and_one_sub(server, new_visitor, demo):
    claims = [
        part((await demo.tokens(new_visitor(), *server.user))["id_token"], 1) for _ in range(2)
    ]

    assert claims[0]["sub"] == claims[1]["sub"]
    assert claims[0]["sid"] != claims[1]["sid"]


async def test_two_users_have_two_subs(server, new_visitor, demo):
    users = [server.user, await server.copy_user("otto")]
    subs = {
        part((await demo.tokens(new_visitor(), *user))["id_token"], 1)["sub"] for user in users
    }

    assert len(subs) == 2


@pytest.mark.promise("ID token: signature and claims")
async def test_sub_and_aud_are_short_printable_ascii(tokens):
    claims = part(tokens["id_token"], 1)

    for value in (claims["sub"], claims["aud"], claims["sid"]):
        assert value.isascii()
        assert value.isprintable()
        assert 0 < len(value) <= 255


@pytest.mark.promise("client: id_token_userinfo_assertion", "authorization: claims of scopes")
async def test_the_assertion_option_puts_the_claims_of_the_scopes_into_the_id_token(
    server, visitor, asserting
):
    tokens = await asserting.tokens(visitor, *server.user, scope=SCOPE)
    claims = part(tokens["id_token"], 1)
    userinfo = (await asserting.userinfo(visitor, tokens["access_token"])).json()

    assert {"name", "email", "phone_number", "address"} <= set(claims)
    assert {name: claims[name] for name in userinfo} == userinfo


@pytest.mark.promise("client: id_token_userinfo_assertion", "authorization: claims of scopes")
async def test_the_assertion_option_gives_no_more_than_the_scopes(server, visitor, asserting):
    tokens = await asserting.tokens(visitor, *server.user, scope="openid email")
    claims = part(tokens["id_token"], 1)

    assert claims["email"] == "dana@example.com"
    assert not {"name", "phone_number", "address"} & set(claims)


async def test_the_assertion_option_follows_a_narrowed_scope(server, visitor, asserting):
    tokens = await asserting.tokens(visitor, *server.user, scope=SCOPE)
    page = await asserting.refresh(visitor, tokens["refresh_token"], scope="openid email")
    claims = part(page.json()["id_token"], 1)

    assert claims["email"] == "dana@example.com"
    assert not {"name", "phone_number", "address"} & set(claims)


async def test_asserted_claims_are_those_of_now(server, visitor, asserting):
    tokens = await asserting.tokens(visitor, *server.user, scope=SCOPE)
    changes = {"profile.display_name": "Dana New"}
    await server.store.commit(Update(USERS, part(tokens["id_token"], 1)["sub"], set=changes))
    fresh = (await asserting.refresh(visitor, tokens["refresh_token"])).json()

    assert part(fresh["id_token"], 1)["name"] == "Dana New"


@pytest.mark.full
async def test_no_changed_id_token_is_a_hint(server, new_visitor, demo, tokens):
    token, other = tokens["id_token"], new_visitor()
    await demo.tokens(other, *await server.copy_user("otto"))
    hostile = [*list(forged.changed(token))[::2], *list(forged.cut(token))[::9]]
    for hint in (*hostile, *forged.longer(token)):
        answer = await demo.silently(other, id_token_hint=hint)
        assert "code" in answer, hint  # ignored, or it would ask for another user

    assert (await demo.silently(other, id_token_hint=token))["error"] == "login_required"
