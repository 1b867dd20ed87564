"""The key set and its rotation: what is published, what signs, and when trust ends."""

from __future__ import annotations

import base64

import pytest
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS
from jwcrypto.jwt import JWT

from idp import changes
from idp.foundation.errors import FailedPrecondition
from idp.keys import key_ring
from idp.oauth import key_rotation
from idp.records import SIGNING_KEYS

KEYS = "/oauth/v2/keys"


@pytest.fixture
def fresh_keys(monkeypatch):
    """Every use of a key reads the store, as another process or the same one 5 s later would."""
    monkeypatch.setattr(key_ring, "CACHE_SECONDS", 0.0)


@pytest.fixture
def rotate(server, fresh_keys):
    async def rotate():
        await changes.run(server.service, key_rotation.rotate, actor="an operator")

    return rotate


@pytest.fixture
def remove(server, fresh_keys):
    async def remove(state: str):
        key = (await in_state(server, state))[0]
        await changes.run(server.service, key_rotation.remove, key.id, actor="an operator")
        return key

    return remove


async def in_state(server, state: str) -> list:
    where = {"use": "sig", "state": state}
    return [key async for key in server.store.scan(SIGNING_KEYS, where)]


async def published(visitor) -> list[str]:
    return [key["kid"] for key in (await visitor.get(KEYS)).json()["keys"]]


def kid_of(token: str) -> str:
    return JWT(jwt=token).token.jose_header["kid"]


@pytest.mark.promise("keys: public keys", "keys: kid", "keys: public members")
async def test_a_key_has_its_public_members_and_nothing_else(visitor):
    found = (await visitor.get(KEYS)).json()["keys"]

    assert [set(key) for key in found] == [{"kty", "use", "alg", "kid", "n", "e"}] * 2
    assert {(key["kty"], key["use"], key["alg"]) for key in found} == {("RSA", "sig", "RS256")}
    assert all("=" not in key["n"] for key in found)
    assert all(len(base64.urlsafe_b64decode(key["n"] + "==")) == 256 for key in found)


async def test_the_active_key_and_the_next_one_are_published(server, visitor):
    active, following = await in_state(server, "active"), await in_state(server, "next")

    assert await published(visitor) == [active[0].id, following[0].id]


async def test_the_key_that_seals_opaque_tokens_is_not_published(server, visitor):
    sealing = [key.id async for key in server.store.scan(SIGNING_KEYS, {"use": "enc"})]

    text = (await visitor.get(KEYS)).text
    assert len(sealing) == 2
    assert not [kid for kid in sealing if kid in text]


@pytest.mark.promise("keys: caching")
async def test_the_key_set_may_be_cached_for_five_minutes_and_asked_for_changes(visitor):
    first = await visitor.get(KEYS)
    again = await visitor.get(KEYS, headers={"If-None-Match": first.headers["ETag"]})
    other = await visitor.get(KEYS, headers={"If-None-Match": '"another"'})

    assert first.headers["Content-Type"] == "application/json"
    assert "max-age=300" in first.headers["Cache-Control"]
    assert first.headers["Access-Control-Allow-Origin"] == "*"
    assert (again.status, again.text) == (304, "")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert other.status == 200


@pytest.mark.promise("keys: caching")
async def test_a_rotation_changes_the_etag(visitor, server, rotate):
    before = (await visitor.get(KEYS)).headers["ETag"]
    server.clock.advance(301)
    await rotate()

    assert (await visitor.get(KEYS, headers={"If-None-Match": before})).status == 200


async def test_tokens_are_signed_by_the_active_key(server, visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)

    assert kid_of(tokens["id_token"]) == (await in_state(server, "active"))[0].id


@pytest.mark.promise("keys: rotation")
async def test_after_a_rotation_the_waiting_key_signs(server, visitor, demo, rotate):
    await demo.tokens(visitor, *server.user)
    waiting = (await in_state(server, "next"))[0]
    server.clock.advance(301)
    await rotate()
    fresh = (await in_state(server, "next"))[0]
    tokens = await demo.tokens(visitor, *server.user, prompt="login")

    assert kid_of(tokens["id_token"]) == waiting.id
    assert fresh.id != waiting.id
    assert fresh.id in await published(visitor)


@pytest.mark.promise("keys: rotation")
async def test_a_token_of_the_retired_key_goes_on_to_verify(server, visitor, rotate):
    client = await server.register(access_token_type="jwt")
    tokens = await client.tokens(visitor, *server.user)
    server.clock.advance(301)
    await rotate()
    found = (await visitor.get(KEYS)).json()["keys"]
    key = next(JWK(**key) for key in found if key["kid"] == kid_of(tokens["access_token"]))

    JWS().deserialize(tokens["access_token"], key)
    assert (await client.userinfo(visitor, tokens["access_token"])).status == 200


@pytest.mark.promise("keys: public members")
async def test_a_retired_key_is_published_until_its_last_token_has_expired(
    server, visitor, rotate
):
    retired = (await in_state(server, "active"))[0].id
    server.clock.advance(301)
    await rotate()
    server.clock.advance(server.service.config.access_token_seconds)
    at_the_end = await published(visitor)
    server.clock.advance(60)

    assert retired in at_the_end
    assert retired not in await published(visitor)


@pytest.mark.full
async def test_a_retired_key_verifies_hints_for_120_days(
    server, visitor, new_visitor, demo, rotate
):
    tokens, other = await demo.tokens(visitor, *server.user), await server.copy_user("otto")
    server.clock.advance(301)
    await rotate()
    server.clock.advance(119 * 86400)
    browser = new_visitor()
    await demo.tokens(browser, *other)
    remembered = await demo.silently(browser, id_token_hint=tokens["id_token"])
    server.clock.advance(2 * 86400)
    browser = new_visitor()
    await demo.tokens(browser, *other)
    forgotten = await demo.silently(browser, id_token_hint=tokens["id_token"])

    assert remembered["error"] == "login_required"
    assert "code" in forgotten


@pytest.mark.parametrize("access_token_type", ["jwt", "opaque"])
async def test_removing_a_key_ends_trust_in_its_tokens_at_once(
    server, visitor, new_visitor, rotate, remove, access_token_type
):
    client = await server.register(
        access_token_type=access_token_type,
        post_logout_redirect_uris=["https://client.example/bye"],
    )
    tokens, other = await client.tokens(visitor, *server.user), new_visitor()
    await client.tokens(other, *await server.copy_user("otto"))
    server.clock.advance(301)
    await rotate()
    removed = await remove("retired")
    userinfo = await client.userinfo(visitor, tokens["access_token"])
    hint = await client.silently(other, id_token_hint=tokens["id_token"])
    logout = await visitor.get(client.logout_url(id_token_hint=tokens["id_token"]))

    assert removed.id not in await published(visitor)
    assert userinfo.status == (401 if access_token_type == "jwt" else 200)
    assert "code" in hint
    assert (logout.status, logout.location) == (400, None)


@pytest.mark.promise("keys: rotation")
async def test_a_key_signs_only_after_every_cache_can_know_it(server, rotate):
    server.clock.advance(301)
    await rotate()
    before = await in_state(server, "active")
    server.clock.advance(299)
    with pytest.raises(FailedPrecondition):
        await rotate()
    kept = await in_state(server, "active")
    server.clock.advance(1)
    await rotate()

    assert kept == before
    assert await in_state(server, "active") != before


@pytest.mark.promise("keys: public members")
async def test_every_rotation_leaves_one_active_and_one_waiting_key(server, visitor, rotate):
    for _ in range(3):
        server.clock.advance(400)
        await rotate()
    kids = await published(visitor)

    assert len(await in_state(server, "active")) == 1
    assert len(await in_state(server, "next")) == 1
    assert len(await in_state(server, "retired")) == 3
    assert len(set(kids)) == 5
