"""Every call of the management API at an organization, by who has no business there.

The calls come from the table of operations, each with what it needs to succeed. All callers meet
one organization: not an octet of the store is another after the last of them.
"""

from __future__ import annotations

import pytest

from tests.handlers.management.test_api_acting import READS, acting_for_an_owner
from tests.support.management.api_samples import CALLS
from tests.support.management.callers import new_caller, refused
from tests.support.management.roles import ROLES, is_everywhere
from tests.support.samples import policies
from tests.support.store import writes
from tests.support.store.both_stores import settings
from tests.support.store.stored import dump
from tests.support.store.writes import at

__all__ = ["settings"]

# By the name of a caller: their role in the organization, or of the installation.
INSIDE = {
    "a user without a role": None,
    "a viewer": "ORG_OWNER_VIEWER",
    "an impersonator": "ORG_ADMIN_IMPERSONATOR",
    "a user manager": "ORG_USER_MANAGER",
    "a project creator": "ORG_PROJECT_CREATOR",
    "a settings manager": "ORG_SETTINGS_MANAGER",
    "an owner": "ORG_OWNER",
    "a viewer of the installation": "IAM_OWNER_VIEWER",
    "an impersonator of the installation": "IAM_ADMIN_IMPERSONATOR",
    "a user manager of the installation": "IAM_USER_MANAGER",
    "an organization manager of the installation": "IAM_ORG_MANAGER",
}
OUTSIDE = ["ORG_OWNER", "ORG_OWNER_VIEWER", "ORG_PROJECT_CREATOR", "ORG_SETTINGS_MANAGER"]
# Whoever asks has it: the same for everybody, or of their own organization.
OF_NOBODY = {"GET /management/v1/presets/{name}", *policies.OF_WHOEVER_ASKS}
ORGANIZATION = "x-idp-orgid"
PARTS = 10  # of the calls


async def callers(server, visitor, new_visitor, world):
    """Each caller with their name, the calls that are refused to them, and the organizations that
    they name there (None: none)."""
    own, other = world.own, world.other
    for name, role in INSIDE.items():
        held = ROLES.get(role, ())
        beyond = [call for call, each in CALLS.items() if each.permission not in held]
        everywhere = bool(role) and is_everywhere(role)
        caller = await new_caller(
            server, visitor, own, *[role] * bool(role), everywhere=everywhere
        )
        yield name, caller, beyond, [own.id, None]
    for role in OUTSIDE:
        caller = await new_caller(server, visitor, other, role)
        named = [call for call in CALLS if CALLS[call].parameters and call not in OF_NOBODY]
        yield f"{role} of another organization", caller, [*CALLS], [own.id]
        yield f"{role} of another organization", caller, named, [other.id, None]
    acting = await acting_for_an_owner(server, visitor, new_visitor, world)
    changing = [call for call, each in CALLS.items() if each.permission not in READS]
    yield "somebody who acts for an owner", acting, changing, [own.id, None]


@pytest.mark.promise("lower roles: sweep")
@pytest.mark.load("mongodb")
@pytest.mark.parametrize("part", range(PARTS))
async def test_nobody_reaches_an_organization_by_a_call_that_is_not_theirs(
    server, visitor, new_visitor, world, monkeypatch, part
):
    targets = {call: await world.target(CALLS[call]) for call in [*CALLS][part::PARTS]}
    everybody = [each async for each in callers(server, visitor, new_visitor, world)]
    await server.service.background_tasks.finished()
    before, written, made = await dump(server.store), writes.recorded(server.store, monkeypatch), 0
    for name, caller, calls, organizations in everybody:
        for call in targets.keys() & calls:
            for org_id in organizations:
                headers = {ORGANIZATION: org_id} if org_id else {}
                with at(call, f"{name}, in {org_id}", written):
                    page = await targets[call].by(caller, **headers)
                    assert page.status in (403, 404), page.text
                    refused(page, page.status, {403: 7, 404: 5}[page.status])
                    assert world.own.name not in page.text
                    made += 1

    assert await dump(server.store) == before
    assert made > 4000 / PARTS
