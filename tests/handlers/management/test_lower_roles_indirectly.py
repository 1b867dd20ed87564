"""What a role does not allow directly it does not allow by a way around either: by an appointment,
by a name that is taken, or by roles of a project."""

from __future__ import annotations

import pytest

from idp.identity.users import memberships
from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from tests.handlers.management.projects.test_project_grants import shop
from tests.support.management.api_samples import MACHINES, MEMBERS, filled
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.management.roles import LOWER, ROLES, is_everywhere
from tests.support.sign_in.people import create
from tests.support.store import writes
from tests.support.store.both_stores import settings
from tests.support.store.stored import everything
from tests.support.store.writes import at

__all__ = ["settings", "shop"]

pytestmark = pytest.mark.load("mongodb")  # roles are checked above the store

OF_INSTANCE = "/admin/v1/members"
# Who appoints whom: each role with those that it gives and takes. What is not said is refused.
APPOINTS = {
    "IAM_OWNER": {*INSTANCE_ROLES, *ORGANIZATION_ROLES},
    "IAM_ORG_MANAGER": {*ORGANIZATION_ROLES},
    "ORG_OWNER": {*ORGANIZATION_ROLES},
}


def appointments(role, user_id, member_id, own_id):
    """Each way to give a role: to somebody, to a member, to oneself."""
    base = OF_INSTANCE if is_everywhere(role) else MEMBERS
    yield "POST", base, {"userId": user_id, "roles": [role]}
    yield "PUT", f"{base}/{member_id}", {"roles": [role]}
    yield "POST", base, {"userId": own_id, "roles": [role]}
    yield "PUT", f"{base}/{own_id}", {"roles": [role]}


@pytest.mark.promise("lower roles: indirectly")
@pytest.mark.full
async def test_nobody_appoints_anybody_or_themselves_to_more_than_they_are(
    server, visitor, own, monkeypatch
):
    here = {"x-idp-orgid": own.id}
    user = await new_caller(server, visitor, own)
    of_own = await new_caller(server, visitor, own, "ORG_OWNER_VIEWER")
    of_all = await new_caller(server, visitor, own, "IAM_OWNER_VIEWER", everywhere=True)
    callers = {
        role: await new_caller(server, visitor, own, role, everywhere=is_everywhere(role))
        for role in ROLES
    }
    before, written, made = (
        await everything(server.store),
        writes.recorded(server.store, monkeypatch),
        0,
    )
    for held, caller in callers.items():
        for role in ROLES.keys() - APPOINTS.get(held, set()):
            member = of_all if is_everywhere(role) else of_own
            for call in appointments(role, user.user_id, member.user_id, caller.user_id):
                with at(call, held, written):
                    refused(await caller.request(*call, **here), 403, 7)
                    made += 1

    assert await everything(server.store) == before
    assert made > 600


@pytest.mark.promise("lower roles: indirectly")
async def test_nobody_dismisses_a_member_above_them(server, visitor, own, monkeypatch):
    callers = {
        role: await new_caller(server, visitor, own, role, everywhere=is_everywhere(role))
        for role in ROLES
    }
    members = {
        role: await new_caller(server, visitor, own, role, everywhere=is_everywhere(role))
        for role in ROLES
    }
    written = writes.recorded(server.store, monkeypatch)
    for held, caller in callers.items():
        for role in ROLES.keys() - APPOINTS.get(held, set()):
            base = OF_INSTANCE if is_everywhere(role) else MEMBERS
            url = f"{base}/{members[role].user_id}"
            with at(url, f"{held} dismisses {role}", written):
                page = await caller.request("DELETE", url, None, **{"x-idp-orgid": own.id})
                refused(page, 403, 7)


PERSON = {
    "profile": {"givenName": "E", "familyName": "Vil"},
    "email": {"email": "evil@evil.example", "isVerified": True},
}
OLD = {
    "userName": "evil",
    "profile": {"firstName": "E", "lastName": "Vil"},
    "email": {"email": "evil@evil.example"},
}
# New users in the place of an administrator, or in an organization that is not the caller's.
NEWCOMERS = {
    "of their id": ("/v2/users/human", {**PERSON, "userId": "{id}"}, 409),
    "of their name": ("/v2/users/human", {**PERSON, "username": "ada"}, 409),
    "elsewhere by id": ("/v2/users/human", {**PERSON, "organization": {"orgId": "{other}"}}, 403),
    "elsewhere by domain": (
        "/v2/users/human",
        {**PERSON, "organization": {"orgDomain": "other.example"}},
        403,
    ),
    "of their name, imported": (
        "/management/v1/users/human/_import",
        {**OLD, "userName": "ada"},
        409,
    ),
    "of their name, a program": (MACHINES, {"userName": "ada", "name": "A"}, 409),
}


@pytest.mark.promise("lower roles: indirectly")
@pytest.mark.parametrize("lower", [each for each in LOWER if "user.write" in ROLES[each]])
async def test_nobody_makes_a_user_in_the_place_of_somebody_above_them(
    server, visitor, own, owner, lower
):
    other = await new_organization(server, "other.example")
    ada = (await create(owner, username="ada", organization={"orgId": own.id}))["userId"]
    await memberships.grant(server.service, ada, None, "IAM_OWNER", actor="a test")
    caller = await new_caller(server, visitor, own, lower, everywhere=is_everywhere(lower))
    before = await everything(server.store)

    for name, (path, body, status) in NEWCOMERS.items():
        if "elsewhere" in name and is_everywhere(lower):
            continue
        page = await caller.post(path, filled(body, id=ada, other=other.id))
        # The import of single people takes a permission that managers of users do not have.
        if path.endswith("_import") and "user.import" not in ROLES[lower]:
            status = 403
        assert page.status == status, (name, page.text)

    assert await everything(server.store) == before


@pytest.mark.promise("lower roles: indirectly")
async def test_a_granted_organization_assigns_no_more_than_it_was_granted(server, visitor, shop):
    granted = (await shop.grant("buyer")).rpartition("/")[2]
    user, theirs = await shop.user(), await shop.user(shop.owner)
    given = (await shop.assign(theirs, "seller", caller=shop.owner)).json()["userGrantId"]
    managers = [shop.manager, await new_caller(server, visitor, shop.other, "ORG_USER_MANAGER")]
    before = await everything(server.store)

    for manager in managers:
        me = f"/management/v1/users/{manager.user_id}/grants"
        for body in ({}, {"projectGrantId": granted}):
            for keys in (["seller"], ["buyer", "seller"]):
                for whom in (user, me):
                    page = await shop.assign(whom, *keys, caller=manager, **body)
                    assert set(refused(page, 400, 3).values()) == {"role.not_granted"}
        for page in (
            await shop.assign(theirs, "buyer", caller=manager),
            await manager.request("PUT", f"{theirs}/{given}", {"roleKeys": ["buyer"]}),
            await manager.request("DELETE", f"{theirs}/{given}", None),
        ):
            refused(page, 404, 5)
    assert await everything(server.store) == before


async def test_what_the_owner_of_a_project_gave_is_not_the_users_organizations_to_change(
    server, visitor, shop
):
    """A manager who has roles of another organization's project, given by its owner."""
    manager = await new_caller(server, visitor, shop.other, "ORG_OWNER")
    me = f"/management/v1/users/{manager.user_id}/grants"
    body = {"projectId": shop.project, "roleKeys": ["buyer"]}
    given = (await shop.everywhere.post(me, body)).json()["userGrantId"]
    before = await everything(server.store)

    for method, path, sent in (
        ("PUT", f"{me}/{given}", {"roleKeys": ["buyer", "seller"]}),
        ("DELETE", f"{me}/{given}", None),
        ("POST", me, body),
    ):
        refused(await manager.request(method, path, sent), 404, 5)
    assert await everything(server.store) == before


async def test_a_suspended_grant_gives_nothing(server, shop):
    one, user = await shop.grant("buyer"), await shop.user()
    assert (await shop.owner.post(f"{one}/_deactivate", {})).status == 200
    before = await everything(server.store)

    refused(await shop.assign(user, "buyer"), 404, 5)
    refused(await shop.assign(user, "buyer", projectGrantId=one.rpartition("/")[2]), 404, 5)
    assert await everything(server.store) == before
