"""The calls that rotate keys and remove one: what they answer, and what becomes of tokens."""

from __future__ import annotations

import itertools

import pytest
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

from idp.keys import algorithms
from idp.records import EVENTS, SIGNING_KEYS
from tests.support.management.api_samples import ROTATE_KEYS
from tests.support.management.callers import refused
from tests.support.service import shared_key
from tests.support.store.stored import everything

KEYS = "/oauth/v2/keys"


@pytest.fixture(autouse=True)
def distinct_keys(server, monkeypatch):
    numbers = itertools.count(2)  # the set-up has taken two
    monkeypatch.setattr(
        algorithms.rsa, "generate_private_key", lambda **_: shared_key(next(numbers))
    )
    server.clock.advance(1)


async def published(visitor) -> dict[str, dict]:
    return {key["kid"]: key for key in (await visitor.get(KEYS)).json()["keys"]}


async def introspected(client, visitor, token: str) -> dict:
    form = {"token": token}
    return (await visitor.post("/oauth/v2/introspect", form, headers=client.basic())).json()


async def active(server, algorithm="RS256") -> str:
    where = {"algorithm": algorithm, "state": "active"}
    (found,) = [key.id async for key in server.store.scan(SIGNING_KEYS, where)]
    return found


def kid_of(token: str) -> str:
    return JWT(jwt=token).token.jose_header["kid"]


def removal(kid: str) -> str:
    return f"/admin/v1/keys/{kid}/_remove"


async def test_a_rotation_answers_with_the_key_that_signs_from_now_on(
    server, visitor, new_visitor, demo, owner
):
    before = await published(visitor)
    page = await owner.post(ROTATE_KEYS, {})
    tokens = await demo.tokens(new_visitor(), *server.user)

    kid = page.json()["keyId"]
    assert page.status == 200
    assert page.json() == {"keyId": kid}
    assert kid in before
    assert kid_of(tokens["id_token"]) == kid
    after = await published(visitor)
    assert set(before) < set(after)
    assert JWT(jwt=tokens["id_token"], key=JWK(**after[kid])).claims


async def test_a_rotation_that_comes_too_soon_says_when_to_come_again(server, owner):
    await owner.post(ROTATE_KEYS, {})
    server.clock.advance(120)
    before = await everything(server.store)
    page = await owner.post(ROTATE_KEYS, {})

    assert refused(page, 400, 9) == {"": "keys.too_soon"}
    assert await everything(server.store) == before
    possible = server.clock.advance(180).strftime("%Y-%m-%dT%H:%M:%S")
    assert possible in page.json()["message"]
    assert (await owner.post(ROTATE_KEYS, {})).status == 200


async def test_rotations_and_removals_are_in_the_audit_log_under_their_caller(server, owner):
    await owner.post(ROTATE_KEYS, {})
    kid = await active(server)
    await owner.post(removal(kid), {})
    told = [each async for each in server.store.scan(EVENTS) if each.record_id == kid]

    assert [each.type for each in sorted(told, key=lambda each: each.sequence)] == [
        "key.made",
        "key.active",
        "key.removed",
    ]
    assert len({each.actor for each in told[1:]}) == 1
    assert told[0].actor != told[-1].actor


@pytest.mark.parametrize("kind", ["jwt", "opaque"])
async def test_what_a_removed_key_made_is_void_at_once_and_another_key_takes_over(
    server, visitor, new_visitor, owner, kind
):
    client = await server.register(access_token_type=kind)
    browser = new_visitor()
    tokens = await client.tokens(browser, *server.user)
    kid = await active(server, "RS256" if kind == "jwt" else "A256GCM")
    assert (await client.userinfo(visitor, tokens["access_token"])).status == 200
    assert (await introspected(client, visitor, tokens["access_token"]))["active"] is True
    page = await owner.post(removal(kid), {})

    assert (page.status, page.json()) == (200, {})
    assert (await client.userinfo(visitor, tokens["access_token"])).status == 401
    assert await introspected(client, visitor, tokens["access_token"]) == {"active": False}
    assert kid not in await published(visitor)
    again = await client.refresh(visitor, tokens["refresh_token"])
    assert again.status == 200
    assert (await client.userinfo(visitor, again.json()["access_token"])).status == 200


async def test_a_hint_of_a_removed_key_is_ignored_and_of_another_one_is_not(
    server, visitor, new_visitor, demo, owner
):
    browser = new_visitor()
    tokens = await demo.tokens(new_visitor(), *server.user)
    await demo.tokens(browser, *await server.copy_user("otto"))
    server.clock.advance(300)
    await owner.post(ROTATE_KEYS, {})
    newer = (await demo.refresh(visitor, tokens["refresh_token"])).json()
    await owner.post(removal(kid_of(tokens["id_token"])), {})

    old = await demo.silently(browser, id_token_hint=tokens["id_token"])
    new = await demo.silently(browser, id_token_hint=newer["id_token"])
    assert "code" in old
    assert new["error"] == "login_required"


async def test_a_key_that_is_not_there_or_was_removed_before_is_refused(server, owner):
    kid = await active(server)
    await owner.post(removal(kid), {})
    before = await everything(server.store)
    unknown = await owner.post(removal("nobody"), {})
    again = await owner.post(removal(kid), {})

    assert refused(unknown, 404, 5) == {"": "key.not_found"}
    assert refused(again, 400, 9) == {"": "key.removed"}
    assert await everything(server.store) == before
