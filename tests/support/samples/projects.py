"""Bodies for projects and their roles, and what such calls use up."""

from __future__ import annotations

from tests.support.management.callers import new_organization
from tests.support.samples.searches import BY_NAME, NO_PLACE

FULL_PROJECT = {
    "name": "Shop",
    "projectRoleAssertion": False,
    "projectRoleCheck": False,
    "hasProjectCheck": False,
}
_PROJECT = "/management/v1/projects/{projectId}"
_GRANTS = f"{_PROJECT}/grants"
_GRANT = f"{_GRANTS}/{{grantId}}"
_ROLE = f"{_PROJECT}/roles/{{roleKey}}"
BODIES = {
    "POST /management/v1/projects/_search": (BY_NAME,),
    "POST /management/v1/projects": (FULL_PROJECT,),
    f"PUT {_PROJECT}": (FULL_PROJECT,),
    f"POST {_PROJECT}/roles": (
        {"roleKey": "buyer-{n}", "displayName": "Buyer", "group": "customers"},
    ),
    f"PUT {_ROLE}": ({"displayName": "Buyer {n}", "group": "customers"},),
    f"POST {_GRANTS}": ({"grantedOrgId": "{granted}", "roleKeys": []},),
    f"POST {_GRANTS}/_search": (
        {"query": NO_PLACE, "queries": [{"grantedOrgIdQuery": {"grantedOrgId": "nobody"}}]},
    ),
    f"PUT {_GRANT}": ({"roleKeys": []},),
}


async def new_project(world):
    return {"projectId": await world.made("/management/v1/projects", "id", name="P")}


async def shut(world):
    """A project that may be reactivated."""
    ids = await new_project(world)
    await world.made(f"/management/v1/projects/{ids['projectId']}/_deactivate", None)
    return ids


async def new_role(world):
    return {"projectId": world.project, "roleKey": await world.new_role()}


async def ungranted(world):
    """A project, with an organization that it is not granted to."""
    organization = await new_organization(world.server, f"{world.new_name('granted')}.example")
    world.names["granted"] = organization.id
    return await new_project(world)


async def new_grant(world):
    ids = await ungranted(world)
    path, body = f"/management/v1/projects/{ids['projectId']}/grants", {"roleKeys": []}
    return ids | {
        "grantId": await world.made(path, "grantId", grantedOrgId=world.names["granted"], **body)
    }


async def suspended_grant(world):
    ids = await new_grant(world)
    path = f"/management/v1/projects/{ids['projectId']}/grants/{ids['grantId']}"
    await world.made(f"{path}/_deactivate", None)
    return ids


MADE = {
    f"POST {_GRANTS}": ungranted,
    f"GET {_GRANT}": new_grant,
    f"PUT {_GRANT}": new_grant,
    f"POST {_GRANT}/_deactivate": new_grant,
    f"POST {_GRANT}/_reactivate": suspended_grant,
    f"DELETE {_GRANT}": new_grant,
    f"POST {_PROJECT}/_deactivate": new_project,
    f"POST {_PROJECT}/_reactivate": shut,
    f"DELETE {_PROJECT}": new_project,
    f"PUT {_ROLE}": new_role,
    f"DELETE {_ROLE}": new_role,
}
