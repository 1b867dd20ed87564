"""Project grants, and roles assigned by them, in packages."""

from __future__ import annotations

import pytest

from idp.identity.users import grant_ids
from idp.records import PROJECT_GRANTS, ROLE_ASSIGNMENTS
from storage import META, SCHEMA_ID
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything
from tests.support.transfer.bringing import brought, exported_org
from tests.support.transfer.bringing_people import outcome

GRANT = {
    "grantId": "9",
    "projectGrant": {"projectId": "p", "grantedOrgId": "guest", "roleKeys": ["buyer"]},
}
USER_GRANT = {
    "userId": "u",
    "projectId": "p",
    "projectGrantId": "9",
    "roleKeys": ["buyer"],
}
OWNER = {
    "orgId": "acme",
    "org": {"name": "Acme"},
    "projects": [{"projectId": "p", "project": {"name": "Shop", "hasProjectCheck": True}}],
    "projectRoles": [{"projectId": "p", "roleKey": key} for key in ("buyer", "seller")],
    "projectGrants": [GRANT],
}
GUEST = {
    "orgId": "guest",
    "org": {"name": "Guest"},
    "machineUsers": [{"userId": "u", "user": {"userName": "u", "name": "U"}}],
    "userGrants": [USER_GRANT],
}


@pytest.mark.promise("application users: grants")
async def test_a_grant_and_what_was_assigned_by_it_come_in_any_order_and_go_again(server):
    made = await brought(server, OWNER, GUEST)

    assert {each.action for each in made} == {"create"}
    grant = await server.store.get(PROJECT_GRANTS, grant_ids.of_grant("p", "guest"))
    assert (grant.org_id, grant.role_keys, grant.state) == ("acme", ["buyer"], "active")
    (one,) = (await server.store.find(ROLE_ASSIGNMENTS, {"user_id": "u"})).records
    assert (one.org_id, one.granted_by) == ("guest", grant.generation)
    assert (await server.store.get(META, SCHEMA_ID)).oldest_reader == 2
    told = [await exported_org(server, id) for id in ("acme", "guest")]
    assert told[0]["projectGrants"][0]["projectGrant"].items() >= GRANT["projectGrant"].items()
    assert told[0]["projects"][0]["project"]["hasProjectCheck"] is True
    assert told[1]["userGrants"] == [USER_GRANT | {"projectGrantId": grant.id}]
    before = await everything(server.store)
    assert {each.action for each in await brought(server, *told, updates=True, job="2")} == {
        "skip"
    }
    assert await everything(server.store) == before
    await events_agree(server.store)


@pytest.mark.parametrize(
    ("owner", "guest", "said"),
    [
        ({"grantedOrgId": "nobody"}, {}, {"!projectGrant.grantedOrgId": "organization.not_found"}),
        ({"grantedOrgId": "acme"}, {}, {"!projectGrant.grantedOrgId": "project_grant.own"}),
        ({"projectId": "q"}, {}, {"!projectGrant.projectId": "project.not_found"}),
        ({"roleKeys": ["king"]}, {}, {"!projectGrant.roleKeys[0]": "role.not_found"}),
        ({}, {"roleKeys": ["seller"]}, {"!roleKeys[0]": "role.not_granted"}),
        ({}, {"projectGrantId": ""}, {"!projectId": "project.not_found"}),
        (None, {}, {"!projectGrantId": "user_grant.project_grant"}),
    ],
)
async def test_a_row_that_refers_to_nothing_is_refused_alone(server, owner, guest, said):
    grants = [] if owner is None else [GRANT | {"projectGrant": GRANT["projectGrant"] | owner}]
    rows = OWNER | {"projectGrants": grants}, GUEST | {"userGrants": [USER_GRANT | guest]}

    made = await brought(server, *rows)

    refused = [outcome(each)[1] for each in made if each.action == "fail"]
    assert said in refused
    await events_agree(server.store)


async def test_an_import_takes_no_granted_role_away(server):
    await brought(server, OWNER, GUEST)
    less = {"projectGrant": GRANT["projectGrant"] | {"roleKeys": ["seller"]}}

    (left,) = await brought(
        server, {"orgId": "acme", "projectGrants": [GRANT | less]}, updates=True, job="2"
    )

    assert left.action == "skip"
    grant = await server.store.get(PROJECT_GRANTS, grant_ids.of_grant("p", "guest"))
    assert grant.role_keys == ["buyer"]
