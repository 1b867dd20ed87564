"""One action on many users: chosen in the list, confirmed by name, done for each once."""

from __future__ import annotations

import re

import pytest

from handlers.console.users import bulk
from handlers.console.users.bulk import BULK_ACTIONS, MAX_USERS
from idp import api
from idp.records import EVENTS, OUTBOX, ROLE_ASSIGNMENTS, SESSIONS, USERS
from storage import Unavailable, Unit, Unknown
from tests.support.management import console
from tests.support.store.stored import everything

USERS_PAGE = "/ui/console/users"
BULK = "/ui/console/users/bulk"


async def people(server, *names):
    """Users with these login names, by their ids."""
    found = {}
    for name in names:
        await server.copy_user(name)
        (user,) = (await server.store.find(USERS, {"login_key": name})).records
        found[name] = user.id
    return found


async def ask(visitor, do, ids, **more):
    """The page that asks for confirmation."""
    page = await visitor.get(USERS_PAGE)
    return await visitor.post(BULK, {**page.hidden, "do": do, "user": list(ids), **more})


async def confirm(visitor, page, **fields):
    users = re.findall(r'name="user" value="([^"]*)"', page.text)
    return await visitor.post(BULK, {**page.hidden, "user": users, **fields})


async def states(server, ids):
    return [(await server.store.get(USERS, user_id)).state for user_id in ids]


async def events(server, type):
    return [each async for each in server.store.scan(EVENTS) if each.type == type]


@pytest.mark.full
async def test_users_are_chosen_in_the_list_and_named_before_anything_is_done(server, visitor):
    await console.admin(server, visitor)
    ids = await people(server, "minnie", "mickey")
    page = await visitor.get(USERS_PAGE)
    before = await everything(server.store)
    asked = await ask(visitor, "deactivate", ids.values())

    assert all(f'name="user" value="{user_id}"' in page.text for user_id in ids.values())
    assert (asked.status, asked.name) == (200, "console/action")
    assert asked.text.count("<li><bdi>") == 2
    assert await everything(server.store) == before


async def test_each_is_done_or_refused_by_itself_with_the_reason(server, visitor):
    await console.admin(server, visitor)
    ids = await people(server, "minnie", "mickey", "goofy")
    await confirm(visitor, await ask(visitor, "deactivate", [ids["goofy"]]))
    page = await confirm(visitor, await ask(visitor, "deactivate", ids.values()))

    assert (page.status, page.name) == (200, "console/show")
    assert "<h1>2 done, 1 refused</h1>" in page.text
    assert "The user&#39;s current state doesn&#39;t allow this." in page.text
    assert await states(server, ids.values()) == ["inactive"] * 3
    assert len(await events(server, "user.deactivated")) == 3


async def test_a_form_that_is_sent_again_does_nothing_twice(server, visitor):
    await console.admin(server, visitor)
    ids = await people(server, "minnie", "mickey")
    asked = await ask(visitor, "deactivate", ids.values())
    first = await confirm(visitor, asked)
    stored = await everything(server.store)
    again = await confirm(visitor, asked)

    assert "<h1>2 done, 0 refused</h1>" in first.text
    assert "<h1>2 done, 0 refused</h1>" in again.text
    assert await everything(server.store) == stored


async def test_a_repeated_form_goes_on_where_the_first_ended(server, visitor, monkeypatch):
    await console.admin(server, visitor)
    ids = await people(server, "minnie", "mickey", "goofy")
    asked = await ask(visitor, "deactivate", ids.values())
    run, calls = bulk.BulkHandler.run, []

    async def failing(self, *names, **more):
        calls.append(names)
        if len([each for each in calls if each[0] is api.users.DEACTIVATE]) == 2:
            raise ConnectionError("the process ends here")
        return await run(self, *names, **more)

    monkeypatch.setattr(bulk.BulkHandler, "run", failing)
    visitor.may_fail = True
    broken = await confirm(visitor, asked)
    visitor.may_fail = False
    halfway = sorted(await states(server, ids.values()))
    monkeypatch.setattr(bulk.BulkHandler, "run", run)
    page = await confirm(visitor, asked)

    assert (broken.status, halfway) == (500, ["active", "active", "inactive"])
    assert "<h1>3 done, 0 refused</h1>" in page.text
    assert len(await events(server, "user.deactivated")) == 3


@pytest.mark.full
@pytest.mark.parametrize("error", [Unavailable("away"), Unknown(Unit("u", ()))], ids=repr)
async def test_a_failure_of_the_store_midway_lists_what_was_done_and_what_was_not(
    server, visitor, monkeypatch, error
):
    await console.admin(server, visitor)
    ids = await people(server, "goofy", "mickey", "minnie")
    await confirm(visitor, await ask(visitor, "deactivate", [ids["goofy"]]))
    await people(server, "daisy")
    every = [await user_id(server, name) for name in ("daisy", *ids)]
    asked = await ask(visitor, "deactivate", every)
    run = bulk.BulkHandler.run

    async def failing(self, operation, *names, **more):
        if names == (ids["mickey"],):
            raise error
        return await run(self, operation, *names, **more)

    monkeypatch.setattr(bulk.BulkHandler, "run", failing)
    visitor.may_fail = True
    broken = await confirm(visitor, asked)
    visitor.may_fail = False
    monkeypatch.setattr(bulk.BulkHandler, "run", run)
    lists = {title: names(part) for title, part in parts(broken)}
    page = await confirm(visitor, asked)

    assert (broken.status, broken.name) == (503, "console/show")
    assert "<h1>1 done, 1 refused, 2 not done</h1>" in broken.text
    assert lists == {
        "Not done": ["Mickey", "Minnie"],
        "Refused": ["Goofy"],
        "Done": ["Daisy"],
    }
    is_unknown = isinstance(error, Unknown)
    assert ("We don&#39;t know whether this was done." in broken.text) is is_unknown
    assert "<h1>3 done, 1 refused</h1>" in page.text
    assert len(await events(server, "user.deactivated")) == 4


async def user_id(server, name):
    (user,) = (await server.store.find(USERS, {"login_key": name})).records
    return user.id


def parts(page):
    """The lists of a page, each with its title."""
    found = re.split(r"<h2>([^<]*)</h2>", page.text)[1:]
    return zip(found[::2], found[1::2], strict=True)


def names(part):
    return re.findall(r'<th scope="row"><a href="[^"]*"><bdi>([^<]*)', part)


async def test_deletion_asks_for_the_number_of_users_and_a_repetition_shows_the_same(
    server, visitor
):
    await console.admin(server, visitor)
    ids = await people(server, "minnie", "mickey")
    asked = await ask(visitor, "delete", ids.values())
    before = await everything(server.store)
    wrong = await confirm(visitor, asked, confirm="3")
    kept = await everything(server.store)
    page = await confirm(visitor, wrong, confirm="2")
    again = await confirm(visitor, wrong, confirm="2")

    assert (wrong.status, wrong.name) == (400, "console/action")
    assert 'id="confirm-problem"' in wrong.text
    assert kept == before
    assert "<h1>2 done, 0 refused</h1>" in page.text
    assert "<h1>2 done, 0 refused</h1>" in again.text
    assert [await server.store.get(USERS, each) for each in ids.values()] == [None, None]
    assert len(await events(server, "user.deleted")) == 2


async def test_roles_of_a_project_are_given_to_all(server, visitor, owner):
    await console.admin(server, visitor)
    ids = await people(server, "minnie", "mickey")
    made = await owner.post("/management/v1/projects", {"name": "Shop"})
    project = made.json()["id"]
    role = {"roleKey": "buyer", "displayName": "Buyer"}
    await owner.post(f"/management/v1/projects/{project}/roles", role)
    asked = await ask(visitor, "assign-roles", ids.values())
    empty = await confirm(visitor, asked, projectId=project, roleKeys="")
    wrong = await confirm(visitor, asked, projectId=project, roleKeys="seller")
    page = await confirm(visitor, empty, projectId=project, roleKeys="buyer")
    grants = [each async for each in server.store.scan(ROLE_ASSIGNMENTS)]

    assert (empty.status, 'id="roleKeys-problem"' in empty.text) == (400, True)
    assert "<h1>0 done, 2 refused</h1>" in wrong.text
    assert "<h1>2 done, 0 refused</h1>" in page.text
    assert {grant.user_id for grant in grants} == set(ids.values())


@pytest.mark.full
async def test_other_actions_do_what_those_of_one_user_do(server, visitor, new_visitor):
    await console.admin(server, visitor)
    ids = await people(server, "minnie")
    guest = new_visitor()
    await console.sign_in(guest, "minnie", server.user[1], "/ui/account")
    opened = len([each async for each in server.store.scan(SESSIONS)])
    out = await confirm(visitor, await ask(visitor, "sign-out", ids.values()))
    gone = await guest.get("/ui/account")
    invited = await confirm(visitor, await ask(visitor, "invite", ids.values()))
    off = await confirm(visitor, await ask(visitor, "deactivate", ids.values()))
    on = await confirm(visitor, await ask(visitor, "reactivate", ids.values()))
    unlocked = await confirm(visitor, await ask(visitor, "unlock", ids.values()))

    assert opened == 2
    assert ["1 done" in page.text for page in (out, off, on)] == [True] * 3
    assert gone.status == 303
    assert ["1 refused" in page.text for page in (invited, unlocked)] == [True] * 2
    assert [each async for each in server.store.scan(OUTBOX)] == []


@pytest.mark.parametrize("number", [0, MAX_USERS, MAX_USERS + 1])
async def test_one_form_takes_one_to_a_hundred_users(server, visitor, number):
    await console.admin(server, visitor)
    ids = [f"nobody-{n}" for n in range(number)]
    before = await everything(server.store)
    page = await ask(visitor, "deactivate", ids, confirmed="yes", once="x")

    if number == MAX_USERS:
        assert (page.status, page.name) == (200, "console/show")
        assert "<h1>0 done, 100 refused</h1>" in page.text
    else:
        assert (page.status, page.name) == (400, "console/message")
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"do": "promote"}, 400),
        ({"do": ""}, 400),
        ({"do": "delete", "user": "\x00"}, 400),
        ({"do": "delete", "user": "x" * 2000}, 400),
        ({"do": ["delete", "unlock"], "user": "x"}, 400),
        ({"do": "deactivate", "user": "x", "token": "another"}, 403),
    ],
    ids=repr,
)
async def test_a_malformed_form_is_refused_and_changes_nothing(server, visitor, form, status):
    await console.admin(server, visitor)
    page = await visitor.get(USERS_PAGE)
    before = await everything(server.store)
    answer = await visitor.post(BULK, {**page.hidden, "confirmed": "yes", "once": "x", **form})

    assert answer.status == status
    assert await everything(server.store) == before


async def test_a_viewer_selects_nobody_and_is_refused_each_action(server, visitor):
    await console.manager(server, visitor, "ORG_OWNER_VIEWER")
    ids = await people(server, "minnie")
    page = await visitor.get(USERS_PAGE)
    form = await console.token(server, visitor, BULK)
    before = await everything(server.store)
    pages = [
        await visitor.post(BULK, {**form, "once": "x", "do": do, "user": list(ids.values())})
        for do in BULK_ACTIONS
    ]

    assert 'name="user"' not in page.text
    assert [each.status for each in pages] == [403] * len(BULK_ACTIONS)
    assert await everything(server.store) == before


async def test_a_user_manager_can_not_end_the_account_of_an_owner(server, visitor):
    admin = server.start.admin.login_name
    (owner,) = (await server.store.find(USERS, {"login_key": admin})).records
    await console.manager(server, visitor, "ORG_USER_MANAGER")
    ids = await people(server, "minnie")
    page = await confirm(visitor, await ask(visitor, "deactivate", [owner.id, *ids.values()]))

    assert "<h1>1 done, 1 refused</h1>" in page.text
    assert await states(server, [owner.id, *ids.values()]) == ["active", "inactive"]


async def test_the_address_of_the_form_leads_back_to_the_list(server, visitor):
    await console.admin(server, visitor)
    page = await visitor.get(BULK)

    assert (page.status, page.location) == (303, f"{server.issuer}{USERS_PAGE}")
