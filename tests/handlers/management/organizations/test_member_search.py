"""Who manages what: members of an organization, of the instance, and what one user manages."""

from __future__ import annotations

from functools import partial

from idp.identity.users import memberships
from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from tests.support.management.api_samples import INSTANCE_MEMBERS, MEMBERS
from tests.support.management.callers import new_caller, new_organization, refused

HELD = "/management/v1/users/{}/memberships/_search"


async def found(caller, path, body=None, **headers):
    page = await caller.post(path, body or {}, **headers)
    assert page.status == 200, page.text
    result = page.json().get("result", [])
    assert page.json()["details"]["totalResult"] == str(len(result))
    return result


async def test_members_are_found_with_who_they_are(server, visitor, acme):
    there = await new_organization(server, "there.example")
    await new_caller(server, visitor, there, "ORG_OWNER")
    chief = await new_caller(server, visitor, acme, "ORG_OWNER")
    viewer = await new_caller(server, visitor, acme, "ORG_OWNER_VIEWER")
    everybody = await found(viewer, f"{MEMBERS}/_search")
    query = {"queries": [{"userIdQuery": {"userId": viewer.user_id}}]}
    (one,) = await found(chief, f"{MEMBERS}/_search", query)

    assert {each["userId"] for each in everybody} == {chief.user_id, viewer.user_id}
    assert one == {
        "userId": viewer.user_id,
        "details": one["details"],
        "roles": ["ORG_OWNER_VIEWER"],
        "preferredLoginName": one["preferredLoginName"],
        "displayName": "Script",
        "userType": "TYPE_MACHINE",
    }
    assert one["preferredLoginName"].endswith("@acme.example")
    assert one["details"]["resourceOwner"] == acme.id


async def test_members_of_the_instance_are_found_by_who_may_read_it(server, visitor, owner, acme):
    viewer = await new_caller(server, visitor, acme, "IAM_OWNER_VIEWER", everywhere=True)
    chief = await new_caller(server, visitor, acme, "ORG_OWNER")
    roles = [each["roles"] for each in await found(viewer, f"{INSTANCE_MEMBERS}/_search")]

    assert sorted(roles) == [["IAM_OWNER"], ["IAM_OWNER"], ["IAM_OWNER_VIEWER"]]
    refused(await chief.post(f"{INSTANCE_MEMBERS}/_search", {}), 403, 7)


async def test_what_a_user_manages_is_listed_as_far_as_the_caller_may_see(
    server, visitor, owner, acme
):
    there = await new_organization(server, "there.example")
    chief = await new_caller(server, visitor, acme, "ORG_OWNER")
    who = await new_caller(server, visitor, acme, "ORG_OWNER_VIEWER")
    grant = partial(memberships.grant, server.service, actor="a test")
    await grant(who.user_id, there.id, "ORG_USER_MANAGER")
    await owner.post(INSTANCE_MEMBERS, {"userId": who.user_id, "roles": ["IAM_ORG_MANAGER"]})
    path = HELD.format(who.user_id)
    whole, part = await found(owner, path), await found(chief, path)
    (of_instance,) = await found(owner, path, {"queries": [{"iamQuery": {"iam": True}}]})
    (of_there,) = await found(owner, path, {"queries": [{"orgQuery": {"orgId": there.id}}]})

    assert {each.get("displayName", "") for each in whole} == {"", acme.name, there.name}
    assert [(each["orgId"], each["roles"]) for each in part] == [(acme.id, ["ORG_OWNER_VIEWER"])]
    assert (of_instance["iam"], of_instance["roles"]) == (True, ["IAM_ORG_MANAGER"])
    assert (of_there["displayName"], of_there["roles"]) == (there.name, ["ORG_USER_MANAGER"])


async def test_roles_are_listed(owner):
    for path, table in ((MEMBERS, ORGANIZATION_ROLES), (INSTANCE_MEMBERS, INSTANCE_ROLES)):
        page = await owner.post(f"{path}/roles/_search", {})
        assert page.json() == {"result": list(table)}
