"""The active sessions of an organization's users over the management API."""

from __future__ import annotations

import pytest

from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import lookup as user_lookup
from idp.records import BROWSERS, ORGANIZATIONS, SESSIONS, USERS
from storage import Insert, Update
from tests.support.management.callers import new_caller, refused
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything

PATH = "/management/v1/orgs/me/sessions/_search"


async def new_session(server, name, methods=("pwd",)):
    """A user who has just signed in with Firefox."""
    await server.copy_user(name)
    (user,) = (await server.store.find(USERS, {"login_key": name})).records
    return await session_of(server, user, methods)


async def home(server):
    """The organization of the users."""
    (user,) = (await server.store.find(USERS, {"login_key": server.user[0]})).records
    return await server.store.get(ORGANIZATIONS, user.org_id)


async def session_of(server, user, methods=("pwd",)):
    service = server.service
    subject = await user_lookup.find_subject(service, user.id)
    browser = browsers.new(service).browser
    browser.browser, browser.system = "Firefox", "Linux"
    now = service.clock.now()
    made = session_lifetime.new(service.random, service.config, browser, subject, now, methods)
    await server.store.commit(Insert(BROWSERS, browser), Insert(SESSIONS, made))
    return made


async def found(caller, **query):
    page = await caller.post(PATH, {"query": query} if query else {})
    assert page.status == 200, page.text
    return page.json()


def ids(answer):
    return [each["id"] for each in answer.get("result", [])]


async def new_reader(server, visitor):
    return await new_caller(server, visitor, await home(server), "ORG_OWNER_VIEWER")


@pytest.fixture
def reader(io_loop, server, visitor):
    """Who may only read the users' organization."""
    return io_loop.run_sync(lambda: new_reader(server, visitor))


async def test_a_session_is_listed_with_its_user_and_browser(server, reader):
    session = await new_session(server, "ada", ["fed", "otp"])

    (one,) = (await found(reader))["result"]

    assert one == {
        "id": session.id,
        "details": one["details"],
        "state": "SESSION_STATE_ACTIVE",
        "authenticationDate": one["authenticationDate"],
        "authenticationMethods": ["fed", "otp", "mfa"],
        "lastUsedDate": one["lastUsedDate"],
        "userId": session.user_id,
        "displayName": "Ada",
        "preferredLoginName": one["preferredLoginName"],
        "browser": "Firefox",
        "system": "Linux",
    }
    assert one["preferredLoginName"].startswith("ada@")
    assert one["details"]["resourceOwner"] == session.org_id


async def test_a_session_that_has_ended_in_any_way_is_not_listed(server, visitor):
    too_old = await new_session(server, "too-old")
    server.clock.advance(server.service.config.session_seconds - 60)
    ended, signed_out = await new_session(server, "ended"), await new_session(server, "out")
    lasting = await new_session(server, "lasting")
    await server.store.commit(
        Update(SESSIONS, ended.id, set={"ended_at": server.clock.now()}),
        Update(USERS, signed_out.user_id, set={"stamp": "another"}),
    )
    reader = await new_reader(server, visitor)
    before = ids(await found(reader, asc=True))
    server.clock.advance(61)

    assert before == [too_old.id, lasting.id]
    assert ids(await found(reader)) == [lasting.id]


@on_both_stores
async def test_pages_are_full_of_active_sessions_and_in_the_order_of_their_beginning(
    server, reader
):
    made = []
    for n in range(7):
        made.append(await new_session(server, f"user-{n}"))
        server.clock.advance(1)
    for session in made[1:4]:
        await server.store.commit(Update(USERS, session.user_id, set={"stamp": "another"}))
    first = await found(reader, limit=2, asc=False)
    second = await found(reader, limit=2, asc=False, cursor=first["nextCursor"])

    assert ids(first) == [made[6].id, made[5].id]
    assert ids(second) == [made[4].id, made[0].id]
    assert "nextCursor" not in second
    assert ids(await found(reader)) == [made[n].id for n in (0, 4, 5, 6)]
    refused(await reader.post(PATH, {"query": {"cursor": first["nextCursor"]}}), 400, 3)


async def test_very_many_sessions_that_are_not_active_are_read_in_several_requests(server, reader):
    active = await new_session(server, "first")
    server.clock.advance(1)
    user = await server.store.get(USERS, active.user_id)
    stale = [await session_of(server, user) for _ in range(25)]
    await server.store.commit(
        *[Update(SESSIONS, each.id, set={"stamps": "former"}) for each in stale]
    )
    answer, requests = await found(reader, limit=2, asc=False), 1
    while not ids(answer) and (cursor := answer.get("nextCursor")):
        answer, requests = await found(reader, limit=2, asc=False, cursor=cursor), requests + 1

    assert (ids(answer), requests) == ([active.id], 2)


@on_both_stores
async def test_sessions_of_another_organization_are_neither_listed_nor_counted(
    server, visitor, acme, reader
):
    session = await new_session(server, "ada")
    owner_there = await new_caller(server, visitor, acme, "ORG_OWNER")
    before = await everything(server.store)

    assert ids(await found(owner_there)) == []
    header = {"x-idp-orgid": session.org_id}
    refused(await owner_there.post(PATH, {}, **header), 403, 7)
    assert ids(await found(reader)) == [session.id]
    assert await everything(server.store) == before


async def test_who_may_not_read_users_is_refused(server, visitor):
    await new_session(server, "ada")
    no_reader = await new_caller(server, visitor, await home(server), "ORG_PROJECT_CREATOR")

    refused(await no_reader.post(PATH, {}), 403, 7)


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"query": {"limit": 0}}, "query.limit"),
        ({"query": {"limit": 1001}}, "query.limit"),
        ({"query": {"cursor": "x"}}, "query.cursor"),
        ({"queries": []}, "queries"),
    ],
)
async def test_a_search_that_makes_no_sense_is_refused(reader, body, where):
    assert where in refused(await reader.post(PATH, body), 400, 3)
