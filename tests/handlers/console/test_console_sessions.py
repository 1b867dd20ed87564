"""The console's list of active sessions, and the page that ends one."""

from __future__ import annotations

import re

from idp.records import EVENTS, SESSIONS, USERS
from tests.handlers.management.organizations.test_org_sessions import home, new_session
from tests.support.management import console
from tests.support.management.callers import new_organization
from tests.support.sign_in.steps import Seen, text_of
from tests.support.store.stored import everything

PATH = "/ui/console/sessions"


def end_links(page):
    return [url for url in Seen(page).links if url.startswith(f"{PATH}/") and "/end" in url]


def users(page):
    """The display names in the rows."""
    return re.findall(r'<th scope="row"><a href="[^"]+"><bdi>([^<]+)</bdi>', page.text)


def cells_of(page):
    """The texts of the cells of each row."""
    rows = re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", page.text, re.DOTALL)
    cells = [re.split(r"</th>|</td>", row)[:-1] for row in rows]
    return [[" ".join(re.sub("<[^>]+>", " ", each).split()) for each in row] for row in cells]


async def test_sessions_are_listed_newest_first_with_user_browser_and_methods(server, visitor):
    await new_session(server, "ada", ["pwd", "otp"])
    server.clock.advance(1)
    await new_session(server, "max", ["hwk", "user", "mfa"])
    server.clock.advance(1)

    page = await console.manager(server, visitor, "ORG_OWNER_VIEWER", path=PATH)

    assert users(page) == ["Manager", "Max", "Ada"]
    assert [row[:3] for row in cells_of(page)] == [
        ["Manager", "–", "Password"],
        ["Max", "Firefox on Linux", "Passkey"],
        ["Ada", "Firefox on Linux", "Password One-time code"],
    ]
    assert end_links(page) == []


async def test_a_session_is_ended_after_a_confirmation_that_names_its_user(server, visitor):
    session = await new_session(server, "ada")
    server.clock.advance(-1)
    page = await console.manager(server, visitor, "ORG_USER_MANAGER", path=PATH)
    link = end_links(page)[0]
    form = await visitor.get(link)
    before = (await server.store.get(SESSIONS, session.id)).ended_at
    page = await visitor.submit(form)

    assert before is None
    assert "End the session ada The user" in text_of(form)
    assert users(page) == ["Manager"]
    assert (await server.store.get(SESSIONS, session.id)).ended_at is not None
    (ended,) = [one async for one in server.store.scan(EVENTS) if one.type == "session.ended"]
    assert (ended.record_id, ended.actor == session.user_id) == (session.id, False)
    assert users(await visitor.submit(form)) == ["Manager"]  # a form that is sent twice
    assert (await visitor.submit(await visitor.get(link))).status == 404
    assert len([one async for one in server.store.scan(EVENTS) if one.type == ended.type]) == 1


async def test_the_list_is_read_page_by_page(server, visitor):
    for n in range(30):
        await new_session(server, f"user-{n}")
        server.clock.advance(1)
    page = await console.manager(server, visitor, "ORG_OWNER_VIEWER", path=PATH)
    first = users(page)
    (following,) = [url for url in Seen(page).links if "cursor=" in url]
    page = await visitor.get(following)

    assert len(first) == 25
    assert users(page) == [f"User-{n}" for n in (5, 4, 3, 2, 1, 0)]
    assert PATH in Seen(page).links
    assert (await visitor.get(f"{PATH}?cursor=x")).status == 400


async def test_an_organization_without_sessions_says_so(server, visitor):
    acme = await new_organization(server, "acme.example")
    await new_session(server, "ada")
    page = await console.admin(server, visitor, f"{PATH}?org={acme.id}")

    assert "No active sessions." in text_of(page)
    assert users(page) == []


async def test_sessions_of_another_organization_are_neither_seen_nor_ended(server, visitor):
    session = await new_session(server, "ada")
    acme, own = await new_organization(server, "acme.example"), await home(server)
    page = await console.manager(server, visitor, "ORG_OWNER", org_id=acme.id, path=PATH)
    before = await everything(server.store)
    end = f"{PATH}/{session.user_id}/{session.id}/end"
    form = {"once": "x", **await console.token(server, visitor, end)}

    assert users(page) == []
    assert (await visitor.get(f"{PATH}?org={own.id}")).status == 404
    for url in (end, f"{end}?org={own.id}"):
        assert (await visitor.get(url)).status == 404
        assert (await visitor.post(url, form)).status == 404
    assert await everything(server.store) == before


async def test_the_session_of_a_user_who_may_do_more_is_not_ended(server, visitor, new_visitor):
    await console.admin(server, new_visitor())
    (admin_session,) = [one async for one in server.store.scan(SESSIONS)]
    admin = await server.store.get(USERS, admin_session.user_id)
    await console.manager(server, visitor, "ORG_USER_MANAGER", org_id=admin.org_id, path=PATH)
    page = await visitor.submit(await visitor.get(f"{PATH}/{admin.id}/{admin_session.id}/end"))

    assert page.status == 403
    assert (await server.store.get(SESSIONS, admin_session.id)).ended_at is None


async def test_who_may_not_read_users_is_not_shown_the_page(server, visitor):
    page = await console.manager(server, visitor, "ORG_PROJECT_CREATOR", path=PATH)

    assert page.status == 403
    assert f'href="{PATH}"' not in page.text
