"""Every page and every form of the console, by somebody who may not, or may do less.

The pages come from the table of routes, so a new one is walked through without being named here.
What an address names is in an organization of its own, and the forms are filled in from samples of
the operations that they run: the person's roles are the only reason for a refusal.
"""

from __future__ import annotations

import pytest

from idp.identity.users import memberships
from idp.management.policies.protected_policies import SIGN_IN_KINDS
from idp.records import APPLICATIONS, MEMBERSHIPS
from storage import Delete, Update
from tests.support.management.api_world import World
from tests.support.management.callers import instance_owner
from tests.support.management.console_walk import (
    ACTIONS,
    FORMS,
    PAGES,
    Walker,
    assert_refused,
    permission_of,
)
from tests.support.management.roles import HIGHER, LOWER, PAIRS, ROLES, is_everywhere
from tests.support.samples.policies import address
from tests.support.store import writes
from tests.support.store.stored import everything
from tests.support.store.writes import at

# Leads to a sign-in as somebody else, whoever asks.
OF_ANYBODY = {"/ui/console/account"}
# By the name of a caller: their role, and where it counts (None: everywhere).
CALLERS = {
    "without a role": (None, "own"),
    "viewer": ("ORG_OWNER_VIEWER", "own"),
    "user manager": ("ORG_USER_MANAGER", "own"),
    "project creator": ("ORG_PROJECT_CREATOR", "own"),
    "settings manager": ("ORG_SETTINGS_MANAGER", "own"),
    "owner": ("ORG_OWNER", "own"),
    "another organization's owner": ("ORG_OWNER", "other"),
    "viewer of the installation": ("IAM_OWNER_VIEWER", None),
    "user manager of the installation": ("IAM_USER_MANAGER", None),
    "organization manager of the installation": ("IAM_ORG_MANAGER", None),
}
# Forms whose samples are not accepted: codes that were made up, an application
# without an address, no mail server, what is active already.
NOT_ACCEPTED = {
    "/users/{userId}/verify-email",
    "/users/{userId}/verify-phone",
    "/projects/{projectId}/applications/{appId}/test",
    "/mail/test",
    "/mail/{mailId}/retry",
    "/organizations/{orgId}/reactivate",
}
# Who manages an organization is the organization's to say.
MEMBERS = "/organizations/{orgId}/members"
# What of a project changes neither who gets into its applications nor whether they work.
HARMLESS = {
    "/projects/{projectId}/edit",
    "/projects/{projectId}/roles/new",
    "/projects/{projectId}/roles/{roleKey}/edit",
}


@pytest.fixture
def world(io_loop, server, visitor):
    owner = io_loop.run_sync(lambda: instance_owner(server, visitor))
    return io_loop.run_sync(lambda: World(server, visitor, owner).make())


@pytest.fixture
def walker(server, new_visitor, world):
    return Walker(server, new_visitor, world)


def test_every_form_says_which_permission_it_takes():
    assert len(ACTIONS) > 100
    assert [path for path in FORMS if permission_of(path) is None] == []


@pytest.mark.full
async def test_an_owner_of_the_installation_is_let_do_what_every_form_is_for(walker):
    """So it is only for their roles that the others are refused below."""
    person = await walker.person("IAM_OWNER", None)
    for path in sorted(FORMS, key=ends_the_organization):
        ids = await walker.ids(path)
        page = await person.sends(path, ids, walker.world.own.id)
        is_accepted = short(path) not in NOT_ACCEPTED
        assert page.status in ((200, 303) if is_accepted else (400,)), (path, page.text)


def ends_the_organization(path) -> int:
    """The pages that are sent last, in their order."""
    ends = ["/deactivate", "/reactivate", "/delete"]
    return next((n for n, end in enumerate(ends, 1) if path.endswith("{orgId}" + end)), 0)


@pytest.mark.promise("lower roles: console")
@pytest.mark.full
@pytest.mark.parametrize("name", CALLERS)
async def test_nobody_does_on_a_page_what_their_roles_do_not_allow(
    server, world, walker, monkeypatch, name
):
    role, where = CALLERS[name]
    refused = [path for path in PAGES if path not in OF_ANYBODY and not may(role, where, path)]
    ids = {path: await walker.ids(path) for path in refused}
    person = await walker.person(role, where)
    before, written = await everything(server.store), writes.recorded(server.store, monkeypatch)
    for path in refused:
        is_theirs = where == "other" and not names_something(path)
        for org_id in [world.own.id] if is_theirs else [world.own.id, None]:
            with at(path, name, written):
                assert_refused(await person.sends(path, ids[path], org_id))

    assert await everything(server.store) == before


def may(role, where, path) -> bool:
    """Whether the form at this address is for this role; a page without one takes nothing."""
    return where != "other" and permission_of(path) in ROLES.get(role, ())


def names_something(path) -> bool:
    """Whether the address names what is in one organization."""
    return "{" in path.replace("{picture}", "")


@pytest.mark.full
@pytest.mark.promise("lower roles: console")
@pytest.mark.parametrize("name", ["without a role", "another organization's owner"])
async def test_nobody_sees_a_page_of_an_organization_that_they_have_no_business_in(
    server, world, walker, monkeypatch, name
):
    ids = {path: await walker.ids(path) for path in PAGES}
    person = await walker.person(*CALLERS[name])
    written = writes.recorded(server.store, monkeypatch)
    for path in PAGES.keys() - OF_ANYBODY:
        with at(path, name, written):
            page = await person.opens(path, ids[path], world.own.id)
            assert_refused(page)
            assert world.own.name not in page.text


@pytest.mark.promise("lower roles: console")
@pytest.mark.full
@pytest.mark.parametrize("lower", LOWER)
async def test_nobody_changes_a_user_on_a_page_who_may_do_more(
    server, world, walker, monkeypatch, lower
):
    forms = [path for path in open_to(lower, "{userId}") if not short(path).startswith(MEMBERS)]
    ids = {path: await walker.ids(path) for path in forms}
    person = await walker.person(lower, None if is_everywhere(lower) else "own")
    written = writes.recorded(server.store, monkeypatch)
    for higher in [each for each in HIGHER if (lower, each) in PAIRS]:
        for path in forms:
            await have_only(server, ids[path]["userId"], higher, world.own.id)
            with at(path, f"{lower} at a user who is {higher}", written):
                assert_refused(await person.sends(path, ids[path], world.own.id))


def open_to(role, named):
    """The forms that change something which the address names, and that the role may use."""
    return [
        path
        for path in FORMS
        if named in path
        and permission_of(path) in ROLES[role]
        and not permission_of(path).endswith(".read")
    ]


async def have_only(server, user_id, role, org_id):
    """Let a user manage nothing but this."""
    for one in (await server.store.find(MEMBERSHIPS, {"user_id": user_id})).records:
        await server.store.commit(Delete(MEMBERSHIPS, one.id))
    where = None if is_everywhere(role) else org_id
    await memberships.grant(server.service, user_id, where, role, actor="a test")


@pytest.mark.full
@pytest.mark.promise("lower roles: console")
@pytest.mark.parametrize("lower", [each for each in LOWER if "project.write" in ROLES[each]])
async def test_nobody_changes_on_a_page_who_gets_into_an_application_that_may_manage(
    server, world, walker, monkeypatch, lower
):
    forms = [path for path in open_to(lower, "{projectId}") if short(path) not in HARMLESS]
    ids = {path: await walker.ids(path) for path in forms}
    for project_id in {each["projectId"] for each in ids.values()}:
        await may_manage(server, world, project_id)
    await assert_all_refused(walker, monkeypatch, lower, ids)
    assert len(forms) > 15


async def assert_all_refused(walker, monkeypatch, lower, ids):
    """Whoever has this role is refused the form of each page, and nothing is stored."""
    store, own = walker.server.store, walker.world.own
    person = await walker.person(lower, None if is_everywhere(lower) else "own")
    before, written = await everything(store), writes.recorded(store, monkeypatch)
    for path in ids:
        with at(path, lower, written):
            assert_refused(await person.sends(path, ids[path], own.id))

    assert await everything(store) == before


async def may_manage(server, world, project_id):
    """Let the applications of a project, one at least, have management access."""
    await world.made(f"/management/v1/projects/{project_id}/apps/oidc", None, name="Inside")
    page = await server.store.find(APPLICATIONS, {"project_id": project_id}, order="name")
    change = {"has_management_access": True}
    await server.store.commit(*[Update(APPLICATIONS, one.id, set=change) for one in page.records])


@pytest.mark.promise("lower roles: console")
@pytest.mark.parametrize("lower", ["ORG_OWNER", "ORG_SETTINGS_MANAGER", "IAM_ORG_MANAGER"])
async def test_nobody_ends_on_a_page_how_an_administrator_of_the_installation_signs_in(
    server, world, walker, monkeypatch, lower
):
    forms = [path for path in FORMS if decides_sign_ins(path) and may(lower, "own", path)]
    ids = {path: await walker.ids(path) for path in forms}
    for kind in SIGN_IN_KINDS:
        await world.made(address(kind), None, "PUT")
    await memberships.grant(server.service, world.user, None, "IAM_OWNER", actor="a test")
    await assert_all_refused(walker, monkeypatch, lower, ids)
    assert len(forms) == (8 if lower == "ORG_SETTINGS_MANAGER" else 10)


def decides_sign_ins(path) -> bool:
    """Whether the form is about a policy of sign-ins, or ends a whole organization."""
    kinds = [f"/policies/{kind.replace('_', '-')}" for kind in SIGN_IN_KINDS]
    is_policy = short(path).removesuffix("/reset") in kinds
    return is_policy or ends_the_organization(path) in (1, 3)


def short(path) -> str:
    """The address of a page as the actions have it."""
    return path.removeprefix("/ui/console")
