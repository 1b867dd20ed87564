"""Nobody ends with a whole organization what they could not end by itself."""

from __future__ import annotations

import pytest

from idp.identity.users import memberships
from idp.records import APPLICATIONS, ORGANIZATIONS
from storage import Update
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.sign_in.people import create
from tests.support.store.both_stores import settings
from tests.support.store.stored import everything

__all__ = ["settings"]

pytestmark = pytest.mark.load("mongodb")  # roles are checked above the store

ENDS = [
    ("POST", "/management/v1/orgs/me/_deactivate", {}),
    ("DELETE", "/management/v1/orgs/me", None),
    ("DELETE", "/admin/v1/orgs/{org}", None),
]


async def owner_of_another(server, owner, own):
    """Somebody in the organization owns another one."""
    other = await new_organization(server, "other.example")
    await appointed(server, owner, own, other.id, "ORG_OWNER")


async def viewer_of_another(server, owner, own):
    """Somebody in the organization reads what is in another one."""
    other = await new_organization(server, "other.example")
    await appointed(server, owner, own, other.id, "ORG_OWNER_VIEWER")


async def administrator(server, owner, own):
    """Somebody in the organization owns the installation."""
    await appointed(server, owner, own, None, "IAM_OWNER")


async def appointed(server, owner, home, org_id, role):
    made = await create(owner, username="ada", organization={"orgId": home.id})
    await memberships.grant(server.service, made["userId"], org_id, role, actor="a test")


async def application_that_may_manage(server, owner, own):
    """An owner of the installation gave an application in the organization management access."""
    here = {"x-idp-orgid": own.id}
    project = (await owner.post("/management/v1/projects", {"name": "P"}, **here)).json()["id"]
    path, body = f"/management/v1/projects/{project}/apps/oidc", {"name": "A"}
    made = (await owner.post(path, body, **here)).json()
    change = Update(APPLICATIONS, made["clientId"], set={"has_management_access": True})
    await server.store.commit(change)


SITUATIONS = [owner_of_another, viewer_of_another, administrator, application_that_may_manage]
# What whoever manages all organizations, and not the installation, may not end.
BEYOND_ORGANIZATIONS = [administrator, application_that_may_manage]


@pytest.mark.promise("lower roles: organizations")
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize(("method", "path", "body"), ENDS)
async def test_an_owner_ends_no_organization_with_somebody_or_something_above_them(
    server, visitor, owner, own, method, path, body, situation
):
    await situation(server, owner, own)
    caller = await new_caller(server, visitor, own, "ORG_OWNER")
    before = await everything(server.store)

    page = await caller.request(method, path.format(org=own.id), body)

    error_code = "project.protected" if situation is application_that_may_manage else None
    assert refused(page, 403, 7) == {"": error_code or "permission_denied"}
    assert await everything(server.store) == before


@pytest.mark.promise("lower roles: organizations")
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize(("method", "path", "body"), ENDS)
async def test_a_manager_of_all_organizations_ends_what_does_not_manage_the_installation(
    server, visitor, owner, own, method, path, body, situation
):
    await situation(server, owner, own)
    home = await new_organization(server, "home.example")
    caller = await new_caller(server, visitor, home, "IAM_ORG_MANAGER", everywhere=True)
    before = await everything(server.store)

    page = await caller.request(method, path.format(org=own.id), body, **{"x-idp-orgid": own.id})

    if situation in BEYOND_ORGANIZATIONS:
        refused(page, 403, 7)
        assert await everything(server.store) == before
    else:
        assert page.status == 200, page.text


@pytest.mark.parametrize("situation", SITUATIONS)
async def test_an_owner_of_the_installation_ends_any(server, owner, own, situation):
    await situation(server, owner, own)

    page = await owner.request("DELETE", f"/admin/v1/orgs/{own.id}", None)

    assert page.status == 200, page.text
    assert await server.store.get(ORGANIZATIONS, own.id) is None


@pytest.mark.parametrize(("method", "path", "body"), ENDS)
async def test_an_owner_ends_their_own_with_nobody_above_them(
    server, visitor, owner, own, method, path, body
):
    await appointed(server, owner, own, own.id, "ORG_OWNER")
    caller = await new_caller(server, visitor, own, "ORG_OWNER")

    page = await caller.request(method, path.format(org=own.id), body)

    assert page.status == 200, page.text
