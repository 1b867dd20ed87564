"""The last refresh token may be used again for a while, where the application says so."""

from __future__ import annotations

import asyncio

import pytest

from idp.oauth.endpoints import refusal_records
from idp.records import APPLICATIONS
from storage import Update
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything

GRACE = 20


@pytest.fixture
def tokens(io_loop, server, visitor, demo) -> dict:
    """Of an application that lets the last refresh token be used again for 20 s."""

    async def make():
        change = {"refresh_token_reuse_seconds": GRACE}
        await server.store.commit(Update(APPLICATIONS, demo.client_id, set=change))
        return await demo.tokens(visitor, *server.user)

    return io_loop.run_sync(make)


@pytest.mark.promise("refresh: refresh_token")
@on_both_stores
async def test_a_lost_answer_is_asked_for_once_more(server, visitor, demo, tokens):
    first = assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
    before = await everything(server.store)
    server.clock.advance(GRACE - 1)
    again = assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))

    assert again["refresh_token"] == first["refresh_token"]
    assert again["access_token"] != first["access_token"]
    assert await everything(server.store) == before
    assert_granted(await demo.refresh(visitor, again["refresh_token"]))


@pytest.mark.promise("refresh: refresh_token")
async def test_when_the_while_is_over_it_is_a_replay(server, visitor, demo, tokens):
    first = assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
    server.clock.advance(GRACE)

    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")
    assert_refused(await demo.refresh(visitor, first["refresh_token"]), 400, "invalid_grant")
    assert (await demo.userinfo(visitor, first["access_token"])).status == 401


async def test_once_the_successor_was_used_it_is_a_replay(visitor, demo, tokens):
    first = assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
    second = assert_granted(await demo.refresh(visitor, first["refresh_token"]))

    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")
    assert_refused(await demo.refresh(visitor, second["refresh_token"]), 400, "invalid_grant")


async def test_another_client_can_not_use_it_again(server, visitor, demo, tokens):
    other = await server.register("Other", refresh_token_reuse_seconds=GRACE)
    await demo.refresh(visitor, tokens["refresh_token"])
    before = await everything(server.store)

    assert_refused(await other.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")
    assert await everything(server.store) == before


async def test_a_revoked_family_gives_nothing_again(visitor, demo, tokens):
    await demo.refresh(visitor, tokens["refresh_token"])
    form = {"token": tokens["refresh_token"]}
    await visitor.post("/oauth/v2/revoke", form, headers=demo.basic())

    assert_refused(await demo.refresh(visitor, tokens["refresh_token"]), 400, "invalid_grant")


async def test_many_at_once_get_the_same_successor(visitor, demo, tokens):
    pages = await asyncio.gather(
        *[demo.refresh(visitor, tokens["refresh_token"]) for _ in range(12)]
    )

    successors = {assert_granted(page)["refresh_token"] for page in pages}
    assert len(successors) == 1
    assert_granted(await demo.refresh(visitor, successors.pop()))


async def test_the_successor_can_not_be_made_from_what_is_stored(server, visitor, demo, tokens):
    first = assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))

    stored = repr(await everything(server.store))
    assert first["refresh_token"][65:] not in stored
    assert len(first["refresh_token"]) == len(tokens["refresh_token"])


async def ends(server):
    """The events that a family ended with: type and cause."""
    types = ("authorization.revoked", "token.refresh_repeated")
    found = (await everything(server.store))["events"].values()
    return [(each.type, dict(each.payload).get("cause")) for each in found if each.type in types]


@pytest.mark.promise("security: refresh")
@on_both_stores
async def test_a_late_repetition_is_an_event_of_its_own(server, visitor, demo, tokens):
    await demo.refresh(visitor, tokens["refresh_token"])
    server.clock.advance(GRACE)
    for _ in range(2):
        page = await demo.refresh(visitor, tokens["refresh_token"])
        assert_refused(page, 400, "invalid_grant")

    assert await ends(server) == [("token.refresh_repeated", None)]


@pytest.mark.promise("security: refresh")
async def test_a_late_repetition_is_explained(server, visitor, demo, tokens):
    await demo.refresh(visitor, tokens["refresh_token"])
    server.clock.advance(GRACE)
    page = await demo.refresh(visitor, tokens["refresh_token"])
    (kept,) = await refusal_records.find(server.service, page.headers["X-Request-Id"])

    assert "Its successor was never used" in kept.sentence
    assert "refreshTokenReuseSeconds" in kept.fix


@pytest.mark.promise("security: refresh")
@on_both_stores
async def test_a_replay_is_reported_with_its_cause(server, visitor, demo, tokens):
    first = assert_granted(await demo.refresh(visitor, tokens["refresh_token"]))
    await demo.refresh(visitor, first["refresh_token"])
    await demo.refresh(visitor, tokens["refresh_token"])

    assert await ends(server) == [("authorization.revoked", "replay")]
