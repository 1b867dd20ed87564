"""The users of an organization as a CSV file: what is in it, for whom, and what is recorded."""

from __future__ import annotations

import csv
import io

import pytest

from idp.management.users import listing
from idp.records import EVENTS, ORGANIZATIONS, USERS
from storage import Update
from tests.support.management import console
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

FILE = "/ui/console/users.csv"
HOSTILE = [
    "=1+1",
    "=HYPERLINK('https://evil.example','x')",
    "+41791234567",
    "-1+1",
    "@SUM(A1)",
    "\tx",
    "\rx",
    '=cmd|" /C calc"!A0',
    "==",
    "-",
]


def rows(page):
    return list(csv.DictReader(io.StringIO(page.text, newline="")))


async def exports(server):
    return [each async for each in server.store.scan(EVENTS) if each.type == "export.made"]


async def named(server, login_name, name):
    """A user with this display name."""
    await server.copy_user(login_name)
    (user,) = (await server.store.find(USERS, {"login_key": login_name})).records
    user.profile.display_name = name
    changes = {"profile": user.profile, "display_key": name.casefold()}
    await server.store.commit(Update(USERS, user.id, set=changes))
    return user


async def test_the_file_has_every_user_of_the_organization(server, visitor):
    await console.admin(server, visitor)
    minnie = await named(server, "minnie", "Minnie “Min” Mouse, née Maus")
    page = await visitor.get(FILE)
    found = {row["userId"]: row for row in rows(page)}
    row = found[minnie.id]

    assert page.status == 200
    assert page.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert page.headers["Content-Disposition"] == 'attachment; filename="users.csv"'
    assert found.keys() == {each.id async for each in server.store.scan(USERS)}
    assert (row["userName"], row["state"]) == ("minnie", "ACTIVE")
    assert row["displayName"] == "Minnie “Min” Mouse, née Maus"
    assert page.text.partition("\n")[0].startswith("userId,userName,state,displayName,")


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
async def test_a_cell_that_a_spreadsheet_takes_for_a_formula_stays_text(server, visitor, name):
    await console.admin(server, visitor)
    user = await named(server, "mallory", name)
    page = await visitor.get(FILE)
    (row,) = [each for each in rows(page) if each["userId"] == user.id]

    assert row["displayName"] == f"'{name}"


async def test_the_filters_of_the_list_apply_to_the_file(server, visitor):
    await console.admin(server, visitor)
    await named(server, "minnie", "Minnie")
    mickey = await named(server, "mickey", "Mickey")
    await server.store.commit(Update(USERS, mickey.id, set={"state": "inactive"}))
    listed = await visitor.get("/ui/console/users?text=mi&state=USER_STATE_INACTIVE")
    by_name = await visitor.get(f"{FILE}?text=mi&by=displayName")
    by_state = await visitor.get(f"{FILE}?text=mi&state=USER_STATE_INACTIVE")

    link = "users.csv?text=mi&amp;by=displayName&amp;state=USER_STATE_INACTIVE"
    assert link.replace("by=displayName&amp;", "") in listed.text or link in listed.text
    assert [row["userName"] for row in rows(by_name)] == ["mickey", "minnie"]
    assert [row["userName"] for row in rows(by_state)] == ["mickey"]


async def test_the_file_has_more_than_one_page_of_the_store_and_ends_at_its_limit(
    server, visitor, monkeypatch
):
    await console.admin(server, visitor)
    for n in range(4):
        await server.copy_user(f"user-{n}")
    monkeypatch.setattr(listing, "_PAGE_SIZE", 2)
    whole = rows(await visitor.get(FILE))
    monkeypatch.setattr(listing, "MAX_ROWS", 3)
    cut = rows(await visitor.get(FILE))

    assert len({row["userId"] for row in whole}) == len(whole) == 6
    assert cut == whole[:3]


async def test_each_file_is_an_event_of_the_organization(server, visitor):
    await console.admin(server, visitor)
    org = await console.own_org(server)
    await visitor.get(FILE)
    admin = server.start.admin.login_name
    (user,) = (await server.store.find(USERS, {"login_key": admin})).records
    (event,) = await exports(server)

    assert (event.collection, event.record_id, event.org_id) == (
        ORGANIZATIONS.name,
        org.id,
        org.id,
    )
    assert (event.actor, event.sequence) == (user.id, 0)
    assert dict(event.payload) == {"what": "users", "format": "csv"}
    assert await server.store.get(ORGANIZATIONS, org.id) == org
    await events_agree(server.store)


async def test_a_form_that_was_opened_before_a_file_was_made_is_accepted(server, visitor):
    await console.admin(server, visitor)
    org = await console.own_org(server)
    form = await visitor.get(f"/ui/console/organizations/{org.id}/edit")
    await visitor.get(FILE)
    page = await visitor.submit(form, name="Renamed")

    assert page.status == 200
    assert (await server.store.get(ORGANIZATIONS, org.id)).name == "Renamed"
    assert len(await exports(server)) == 1


async def test_users_of_another_organization_are_not_in_the_file(server, visitor, owner):
    await console.manager(server, visitor, "ORG_OWNER_VIEWER")
    made = await owner.post("/admin/v1/orgs/_setup", OTHER)
    other = made.json()["orgId"]
    own = await visitor.get(FILE)
    theirs = await visitor.get(f"{FILE}?org={other}")

    assert "manager" in [row["userName"] for row in rows(own)]
    assert "anna" not in own.text
    assert (theirs.status, theirs.name) == (404, "console/message")
    assert len(await exports(server)) == 1


OTHER = {
    "org": {"name": "Acorn"},
    "human": {
        "userName": "anna",
        "profile": {"firstName": "Anna", "lastName": "Owner"},
        "email": {"email": "anna@acorn.example", "isEmailVerified": True},
        "password": "a lamp in the attic",
    },
}


@pytest.mark.full
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?state=SLEEPING", 400),
        ("?text=" + "x" * 2000, 400),
        ("?text=a&text=b", 400),
        ("?org=nowhere", 404),
    ],
)
async def test_a_search_that_can_not_be_made_gives_a_page_and_no_file(
    server, visitor, query, status
):
    await console.admin(server, visitor)
    before = await everything(server.store)
    page = await visitor.get(FILE + query)

    assert page.status == status
    assert page.headers["Content-Type"].startswith("text/html")
    assert "Content-Disposition" not in page.headers
    assert await everything(server.store) == before


async def test_who_may_not_read_users_gets_no_file(server, visitor):
    await console.manager(server, visitor, "ORG_PROJECT_CREATOR")
    page = await visitor.get(FILE)

    assert (page.status, page.name) == (403, "console/message")
    assert await exports(server) == []


async def test_a_link_of_another_site_makes_no_file_and_no_event(server, visitor):
    await console.admin(server, visitor)
    page = await visitor.get(FILE, headers={"Sec-Fetch-Site": "cross-site"})

    assert (page.status, page.headers["Location"]) == (303, "/ui/console/users")
    assert await exports(server) == []
