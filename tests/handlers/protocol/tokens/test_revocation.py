"""Revocation (RFC 7009): what a client gives back, and what it can't take away."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from idp.records import APPLICATIONS, INSTANCE_ID, INSTANCES
from idp.start import admin_pat
from storage import Update
from tests.support.attacks.forged import changed
from tests.support.protocol.answers import assert_refused
from tests.support.protocol.asserting import register_key
from tests.support.store.stored import everything

REVOKE = "/oauth/v2/revoke"


def revoke(visitor, party, token: str | None, headers: dict | None = None, **form):
    sent = form if token is None else {"token": token} | form
    return visitor.post(REVOKE, sent, headers=party.basic() if headers is None else headers)


async def works(visitor, party, tokens: dict) -> tuple[bool, bool]:
    """Whether the access token and the refresh token are still good for something."""
    userinfo = await party.userinfo(visitor, tokens["access_token"])
    refreshed = await party.refresh(visitor, tokens["refresh_token"])
    return userinfo.status == 200, refreshed.status == 200


def assert_done(page) -> None:
    assert (page.status, page.text) == (200, "")
    assert page.headers["Cache-Control"] == "no-store"


@pytest.mark.promise("revocation: token", "revocation: access token")
@pytest.mark.parametrize("kind", ["opaque", "jwt"])
async def test_an_access_token_ends_alone(server, visitor, demo, tokens, kind):
    await server.store.commit(
        Update(APPLICATIONS, demo.client_id, set={"access_token_type": kind})
    )
    first = (await demo.refresh(visitor, tokens["refresh_token"])).json()
    second = (await demo.refresh(visitor, first["refresh_token"])).json()

    assert_done(await revoke(visitor, demo, first["access_token"]))
    assert await works(visitor, demo, first | {"refresh_token": "-"}) == (False, False)
    assert await works(visitor, demo, second) == (True, True)


@pytest.mark.promise("revocation: token", "revocation: refresh token")
async def test_a_refresh_token_ends_with_all_that_came_of_its_grant(visitor, demo, tokens):
    fresh = (await demo.refresh(visitor, tokens["refresh_token"])).json()

    assert_done(await revoke(visitor, demo, fresh["refresh_token"]))
    assert await works(visitor, demo, tokens) == (False, False)
    assert await works(visitor, demo, fresh) == (False, False)


@pytest.mark.promise("revocation: refresh token")
async def test_a_spent_refresh_token_ends_its_family_too(visitor, demo, tokens):
    fresh = (await demo.refresh(visitor, tokens["refresh_token"])).json()

    assert_done(await revoke(visitor, demo, tokens["refresh_token"]))
    assert await works(visitor, demo, fresh) == (False, False)


async def test_another_sign_in_of_the_same_user_lives_on(server, visitor, demo, tokens):
    page = await visitor.get(demo.authorize_url())
    other = (await demo.redeem(visitor, page.answer["code"])).json()
    await revoke(visitor, demo, tokens["refresh_token"])

    assert await works(visitor, demo, other) == (True, True)


@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "nonsense"])
async def test_the_hint_decides_nothing(visitor, demo, tokens, hint):
    assert_done(await revoke(visitor, demo, tokens["refresh_token"], token_type_hint=hint))
    assert await works(visitor, demo, tokens) == (False, False)


@pytest.mark.promise("introspection: other clients")
@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
async def test_another_clients_token_is_left_alone(server, visitor, demo, tokens, name):
    other = await server.register("Other")
    before = await everything(server.store)

    assert_done(await revoke(visitor, other, tokens[name]))
    assert await everything(server.store) == before
    assert await works(visitor, demo, tokens) == (True, True)


UNKNOWN = {
    "nothing known": lambda t: "token",
    "an access token changed": lambda t: changed(t["access_token"]),
    "a refresh token with another family": lambda t: (
        t["refresh_token"][:22] + "A" * 43 + t["refresh_token"][65:]
    ),
    "an ID token": lambda t: t["id_token"],
    "a code": lambda t: "c" * 65,
    "of 60 KB": lambda t: "t" * 60_000,
    "no text": lambda t: "\0",
}


@pytest.mark.promise("introspection: other clients", "revocation: token")
@pytest.mark.parametrize("make", UNKNOWN.values(), ids=UNKNOWN.keys())
async def test_what_nobody_knows_is_no_error(server, visitor, demo, tokens, make):
    before = await everything(server.store)

    assert_done(await revoke(visitor, demo, make(tokens)))
    assert await everything(server.store) == before


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
async def test_revoking_twice_changes_nothing_more(server, visitor, demo, tokens, name):
    await revoke(visitor, demo, tokens[name])
    before = await everything(server.store)

    assert_done(await revoke(visitor, demo, tokens[name]))
    assert await everything(server.store) == before


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
async def test_many_revocations_at_once_are_all_answered(server, visitor, demo, tokens, name):
    pages = await asyncio.gather(*[revoke(visitor, demo, tokens[name]) for _ in range(8)])

    assert [page.status for page in pages] == [200] * 8
    assert (await demo.userinfo(visitor, tokens["access_token"])).status == 401


async def test_an_expired_access_token_leaves_no_note(server, visitor, demo, tokens):
    server.clock.advance(timedelta(seconds=server.service.config.access_token_seconds))
    before = await everything(server.store)

    assert_done(await revoke(visitor, demo, tokens["access_token"]))
    assert await everything(server.store) == before


async def test_the_note_of_a_revoked_token_lasts_as_long_as_what_may_have_come_of_it(
    server, visitor, demo, tokens
):
    await revoke(visitor, demo, tokens["access_token"])
    (note,) = (await everything(server.store))["revoked_tokens"].values()

    config = server.service.config
    lasts = 2 * config.access_token_seconds + config.refresh_token_seconds
    now = server.clock.now().replace(microsecond=0)
    assert note.expires_at == now + timedelta(seconds=lasts)


async def test_a_personal_access_token_is_not_a_clients_to_revoke(server, visitor, demo):
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    pat = await admin_pat.ensure(server.service, instance, None)
    before = await everything(server.store)

    assert_done(await revoke(visitor, demo, pat))
    assert await everything(server.store) == before


@pytest.mark.promise(
    "client authentication: client_secret_basic",
    "client authentication: client_secret_post",
    "client authentication: none",
    "client authentication: private_key_jwt",
    "revocation: authentication",
)
async def test_every_method_of_the_token_endpoint_counts_here(server, visitor):
    for method in ("client_secret_basic", "client_secret_post", "none", "private_key_jwt"):
        party = await server.register(method, auth_method=method)
        keyed = await register_key(server, party.client_id, f"key-{method}")
        named = {"client_id": party.client_id}
        headers, form = {
            "client_secret_basic": (party.basic(), {}),
            "client_secret_post": ({}, named | {"client_secret": party.client_secret}),
            "none": ({}, named),
            "private_key_jwt": ({}, keyed.client_form()),
        }[method]

        assert_done(await revoke(visitor, party, "token", headers, **form))


@pytest.mark.promise("revocation: authentication")
async def test_who_does_not_authenticate_revokes_nothing(server, visitor, demo, tokens):
    before = await everything(server.store)
    demo.client_secret = "wrong"

    for headers in ({}, demo.basic()):
        page = await revoke(visitor, demo, tokens["refresh_token"], headers)
        assert_refused(page, 401 if headers else 400, "invalid_client")
    assert await everything(server.store) == before


async def test_a_request_without_a_token_is_invalid(visitor, demo):
    assert_refused(await revoke(visitor, demo, None), 400, "invalid_request")


async def test_only_a_post_is_answered(visitor, demo):
    page = await visitor.get(REVOKE, headers=demo.basic())

    assert_refused(page, 405, "invalid_request")
    assert page.headers["Allow"] == "POST"
