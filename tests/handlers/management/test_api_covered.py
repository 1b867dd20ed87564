"""Every call that changes a user, a project or what is theirs, by a caller who may do less.

The calls come from the table of operations. What a call names is made to belong to somebody above
the caller; the caller has the call's permission, so nothing else is a reason to refuse.
"""

from __future__ import annotations

import pytest

from idp.identity.users import memberships
from idp.records import APPLICATIONS
from storage import Update
from tests.support.management.api_samples import CALLS, address
from tests.support.management.api_world import Target
from tests.support.management.callers import new_caller, refused
from tests.support.management.roles import LOWER, PAIRS, ROLES, is_everywhere
from tests.support.store import writes
from tests.support.store.writes import at

# Who manages an organization is the organization's to say: a membership there is not the user's,
# and whoever may change it holds all that it can give.
MEMBERS = ("/management/v1/orgs/me/members", "/admin/v1/members")
PROJECT = "/management/v1/projects/{projectId}"
# What changes neither who gets into the applications of a project nor whether they work. The
# checks of a project are in test_lower_roles_by_policy.py.
HARMLESS = {
    f"PUT {PROJECT}",
    f"POST {PROJECT}/roles",
    f"PUT {PROJECT}/roles/{{roleKey}}",
    f"POST {PROJECT}/apps/oidc",
    f"POST {PROJECT}/apps/oidc/_check",
    f"POST {PROJECT}/apps/api",
}


@pytest.fixture
def settings():
    return {"refused_credentials_limit": 1_000_000}


def changing(parameter: str, role: str):
    """The calls with this parameter that change something and that the role may make."""
    return {
        name: each
        for name, each in CALLS.items()
        if parameter in each.parameters
        and not each.permission.endswith(".read")
        and each.permission in ROLES[role]
        and not each.path.startswith(MEMBERS)
    }


async def target(world, operation, ids):
    return Target(operation.method, address(operation, **ids), world.body(operation))


@pytest.mark.promise("lower roles: users")
@pytest.mark.parametrize(("lower", "higher"), PAIRS)
async def test_nobody_changes_a_user_who_may_do_more(
    server, visitor, world, monkeypatch, lower, higher
):
    caller = await new_caller(server, visitor, world.own, lower, everywhere=is_everywhere(lower))
    written, where = (
        writes.recorded(server.store, monkeypatch),
        None if is_everywhere(higher) else world.own.id,
    )
    for call, operation in changing("userId", lower).items():
        ids = await world.ids(operation)
        await memberships.grant(server.service, ids["userId"], where, higher, actor="a test")
        sent = await target(world, operation, ids)
        with at(call, f"{lower} at a user who is {higher}", written):
            refused(await sent.by(caller, **world.here), 403, 7)


@pytest.mark.promise("lower roles: projects")
@pytest.mark.parametrize("lower", [each for each in LOWER if "project.write" in ROLES[each]])
async def test_nobody_changes_an_application_that_may_manage_or_who_gets_into_it(
    server, visitor, world, monkeypatch, lower
):
    caller = await new_caller(server, visitor, world.own, lower, everywhere=is_everywhere(lower))
    written = writes.recorded(server.store, monkeypatch)
    calls = changing("projectId", lower)
    for call, operation in calls.items():
        if call in HARMLESS:
            continue
        ids = await world.ids(operation)
        page = await server.store.find(
            APPLICATIONS, {"project_id": ids["projectId"]}, order="name"
        )
        if not page.records:
            path = f"/management/v1/projects/{ids['projectId']}/apps/oidc"
            await world.made(path, None, name="Inside")
            page = await server.store.find(
                APPLICATIONS, {"project_id": ids["projectId"]}, order="name"
            )
        for client in page.records:
            await server.store.commit(
                Update(APPLICATIONS, client.id, set={"has_management_access": True})
            )
        sent = await target(world, operation, ids)
        with at(call, lower, written):
            told = refused(await sent.by(caller, **world.here), 403, 7)
            if "appId" not in operation.parameters:
                assert told == {"": "project.protected"}

    assert calls.keys() >= HARMLESS
