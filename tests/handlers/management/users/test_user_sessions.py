"""The sessions of a user over the management API: listed, and ended."""

from __future__ import annotations

from idp.records import EVENTS, SESSIONS
from tests.support.management.callers import refused
from tests.support.store.stored import everything, only


async def signed_in(server, demo, new_visitor):
    """The session of somebody who has signed in, and their tokens."""
    tokens = await demo.tokens(new_visitor(), *server.user)
    return await only(server.store, SESSIONS), tokens


async def search(owner, user_id):
    page = await owner.post(f"/v2/users/{user_id}/sessions/_search", {})
    assert page.status == 200, page.text
    return page.json()


async def is_active(demo, visitor, token):
    return (await demo.userinfo(visitor, token)).status == 200


async def test_a_session_is_listed_with_its_methods_and_time(server, owner, demo, new_visitor):
    session, _ = await signed_in(server, demo, new_visitor)

    answer = await search(owner, session.user_id)

    (told,) = answer["result"]
    assert answer["details"]["totalResult"] == "1"
    assert (told["id"], told["state"]) == (session.id, "SESSION_STATE_ACTIVE")
    assert told["authenticationMethods"] == ["pwd"]


async def test_one_session_ends_with_its_tokens(server, owner, demo, new_visitor):
    session, tokens = await signed_in(server, demo, new_visitor)
    path = f"/v2/users/{session.user_id}/sessions/{session.id}"

    page = await owner.request("DELETE", path, None)

    assert page.status == 200, page.text
    (told,) = (await search(owner, session.user_id))["result"]
    assert told["state"] == "SESSION_STATE_TERMINATED"
    assert "endDate" in told
    assert not await is_active(demo, new_visitor(), tokens["access_token"])
    events = [one async for one in server.store.scan(EVENTS) if one.record_id == session.id]
    ended = [one for one in events if one.type == "session.ended"]
    assert [one.actor == session.user_id for one in ended] == [False]
    refused(await owner.request("DELETE", path, None), 404, 5)


async def test_a_session_is_ended_by_its_own_user_s_address_alone(
    server, owner, demo, new_visitor
):
    session, _ = await signed_in(server, demo, new_visitor)
    machine = {"userName": "m", "name": "M"}
    other = (await owner.post("/management/v1/users/machine", machine)).json()["userId"]
    before = await everything(server.store)

    page = await owner.request("DELETE", f"/v2/users/{other}/sessions/{session.id}", None)

    refused(page, 404, 5)
    assert await everything(server.store) == before


async def test_signed_out_everywhere_a_user_has_nothing_that_counts(
    server, owner, demo, new_visitor
):
    session, tokens = await signed_in(server, demo, new_visitor)

    page = await owner.post(f"/v2/users/{session.user_id}/sessions/_end", {})

    assert page.status == 200, page.text
    (told,) = (await search(owner, session.user_id))["result"]
    assert told["state"] == "SESSION_STATE_TERMINATED"
    assert not await is_active(demo, new_visitor(), tokens["access_token"])
    assert (await demo.tokens(new_visitor(), *server.user))["access_token"]
