"""Every call that changes a user, a project or what is theirs, by somebody who may do less (S8).

The calls come from the table of operations. What a call names is made to belong to somebody above
the caller; the caller has the call's permission, so nothing else is a reason to refuse.
"""

from __future__ import annotations

import pytest

from idp.identity import memberships, permissions
from idp.identity.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from idp.records import APPLICATIONS
from storage import Update
from tests.support import writes
from tests.support.api_samples import CALLS, address
from tests.support.api_world import Target, World
from tests.support.callers import instance_owner, new_caller, refused
from tests.support.writes import at

LOWER = [
    "ORG_OWNER",
    "ORG_USER_MANAGER",
    "ORG_PROJECT_CREATOR",
    "ORG_SETTINGS_MANAGER",
    "IAM_ORG_MANAGER",
    "IAM_USER_MANAGER",
]
HIGHER = ["ORG_OWNER", "IAM_USER_MANAGER", "IAM_ORG_MANAGER", "IAM_OWNER", "IAM_OWNER_VIEWER"]
# Who manages an organization is the organization's to say: a membership there is not the user's,
# and whoever may change it holds all that it can give.
MEMBERS = ("/management/v1/orgs/me/members", "/admin/v1/members")
ROLES = {**INSTANCE_ROLES, **ORGANIZATION_ROLES}


@pytest.fixture
def settings():
    return {"refused_credentials_limit": 1_000_000}


@pytest.fixture
def world(io_loop, server, visitor):
    owner = io_loop.run_sync(lambda: instance_owner(server, visitor))
    return io_loop.run_sync(lambda: World(server, visitor, owner).make())


def is_everywhere(role: str) -> bool:
    return role.startswith("IAM")


def covers(lower: str, higher: str) -> bool:
    """Whether whoever has the one role could do all that the other allows."""
    held = [
        permissions.of_roles(None if is_everywhere(each) else "own", [each])
        for each in (lower, higher)
    ]
    return held[0].cover(held[1])


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


PAIRS = [(low, high) for low in LOWER for high in HIGHER if not covers(low, high)]


@pytest.mark.gen_test(timeout=120)
@pytest.mark.parametrize(("lower", "higher"), PAIRS)
async def test_nobody_changes_a_user_who_may_do_more(
    server, visitor, world, monkeypatch, lower, higher
):
    caller = await new_caller(server, visitor, world.own, lower, everywhere=is_everywhere(lower))
    written, where = (
        writes.noted(server.store, monkeypatch),
        None if is_everywhere(higher) else world.own.id,
    )
    for call, operation in changing("userId", lower).items():
        ids = await world.ids(operation)
        await memberships.grant(server.service, ids["userId"], where, higher, actor="a test")
        sent = await target(world, operation, ids)
        with at(call, f"{lower} at a user who is {higher}", written):
            refused(await sent.by(caller, **world.here), 403, 7)


@pytest.mark.gen_test(timeout=120)
@pytest.mark.parametrize("lower", [each for each in LOWER if "project.write" in ROLES[each]])
async def test_nobody_ends_an_application_that_may_manage_with_its_project(
    server, visitor, world, monkeypatch, lower
):
    caller = await new_caller(server, visitor, world.own, lower, everywhere=is_everywhere(lower))
    written = writes.noted(server.store, monkeypatch)
    for call, operation in changing("projectId", lower).items():
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
        if "appId" not in operation.parameters and not ends_applications(operation):
            continue
        sent = await target(world, operation, ids)
        with at(call, lower, written):
            told = refused(await sent.by(caller, **world.here), 403, 7)
            if "appId" not in operation.parameters:
                assert told == {"": "project.protected"}


def ends_applications(operation) -> bool:
    rest = operation.path.partition("{projectId}")[2]
    return rest in ("/_deactivate", "/_reactivate") or (not rest and operation.method == "DELETE")
