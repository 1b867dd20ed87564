"""What lower roles can't do to somebody above them directly, they can't do by a policy, by the
checks of a project, or by its roles and grants either."""

from __future__ import annotations

import pytest

from idp.identity.users import memberships
from idp.records import APPLICATIONS
from storage import Update
from tests.support.management.api_samples import filled
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.samples.policies import address
from tests.support.sign_in.people import create
from tests.support.store.stored import everything

PROJECTS = "/management/v1/projects"
WEAKENED = {
    "login": {"secondFactors": [], "multiFactors": []},
    "lockout": {"maxPasswordAttempts": 1},
    "password_complexity": {"minLength": 8},
    "password_age": {"maxAgeDays": 1},
}


@pytest.fixture
def administrator(io_loop, server, owner, own):
    """Somebody of the organization who owns the installation."""

    async def make():
        made = await create(owner, username="ada", organization={"orgId": own.id})
        await memberships.grant(server.service, made["userId"], None, "IAM_OWNER", actor="a test")
        return made["userId"]

    return io_loop.run_sync(make)


@pytest.mark.promise("lower roles: policies")
@pytest.mark.parametrize("kind", WEAKENED)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize("role", ["ORG_SETTINGS_MANAGER", "ORG_OWNER", "IAM_ORG_MANAGER"])
async def test_the_policy_that_an_administrator_signs_in_by_is_not_theirs_to_set(
    server, visitor, own, owner, administrator, kind, method, role
):
    here = {"x-idp-orgid": own.id}
    if method != "POST":
        assert (await owner.post(address(kind), WEAKENED[kind], **here)).status == 200
    home = await new_organization(server, "home.example")
    everywhere = role.startswith("IAM")
    caller = await new_caller(
        server, visitor, home if everywhere else own, role, everywhere=everywhere
    )
    before = await everything(server.store)

    body = None if method == "DELETE" else WEAKENED[kind]
    page = await caller.request(method, address(kind), body, **here)

    assert page.status == 403, page.text
    assert page.json()["details"][0]["id"] == "policy.protected"
    assert await everything(server.store) == before


async def test_an_owner_of_the_installation_sets_it(own, owner, administrator):
    page = await owner.post(address("login"), {"forceMfa": True}, **{"x-idp-orgid": own.id})

    assert page.status == 200, page.text


async def test_where_no_administrator_lives_the_organization_sets_its_own(server, visitor, own):
    manager = await new_caller(server, visitor, own, "ORG_SETTINGS_MANAGER")

    statuses = [(await manager.post(address(kind), WEAKENED[kind])).status for kind in WEAKENED]

    assert statuses == [200] * len(WEAKENED)


@pytest.fixture
def managing(io_loop, server, visitor, owner, own):
    """A project with a role, a grant and an application that has management access, and somebody
    who manages projects there."""

    async def make():
        here = {"x-idp-orgid": own.id}
        path = f"{PROJECTS}/{(await owner.post(PROJECTS, {'name': 'P'}, **here)).json()['id']}"
        await owner.post(f"{path}/roles", {"roleKey": "k", "displayName": "K"}, **here)
        other = await new_organization(server, "other.example")
        grant = {"grantedOrgId": other.id, "roleKeys": ["k"]}
        granted = (await owner.post(f"{path}/grants", grant, **here)).json()["grantId"]
        body = {"name": "A", "redirectUris": ["http://localhost:3000/cb"]}
        made = (await owner.post(f"{path}/apps/oidc", body, **here)).json()
        change = Update(APPLICATIONS, made["clientId"], set={"has_management_access": True})
        await server.store.commit(change)
        creator = await new_caller(server, visitor, own, "ORG_OWNER")
        return path, granted, creator

    return io_loop.run_sync(make)


@pytest.mark.promise("lower roles: management access")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "", {"name": "P", "projectRoleCheck": True}),
        ("PUT", "", {"name": "P", "hasProjectCheck": True}),
        ("DELETE", "/roles/k", None),
        ("POST", "/grants", {"grantedOrgId": "{third}", "roleKeys": []}),
        ("DELETE", "/grants/{grant}", None),
        ("PUT", "/grants/{grant}", {"roleKeys": []}),
        ("POST", "/grants/{grant}/_deactivate", {}),
    ],
)
async def test_who_gets_into_an_application_with_management_access_is_not_theirs_to_decide(
    server, managing, method, path, body
):
    project, grant, creator = managing
    third = await new_organization(server, "third.example")
    body = filled(body, third=third.id)
    before = await everything(server.store)

    page = await creator.request(method, project + path.format(grant=grant), body)

    assert page.status == 403, page.text
    assert page.json()["details"][0]["id"] == "project.protected"
    assert await everything(server.store) == before


async def test_its_name_is(managing):
    project, _, creator = managing

    assert (await creator.request("PUT", project, {"name": "Q"})).status == 200


async def test_a_name_with_the_dot_of_the_root_is_in_the_same_domain(server, visitor, owner):
    await new_organization(server, "acme.example")
    other = await new_organization(server, "other.example")
    manager = await new_caller(server, visitor, other, "ORG_OWNER")
    body = {
        "username": "ceo@acme.example.",
        "profile": {"givenName": "C", "familyName": "E"},
        "email": {"email": "ceo@other.example", "isVerified": True},
    }

    page = await manager.post("/v2/users/human", body)

    assert refused(page, 400, 3) == {"username": "user.name.foreign_domain"}
