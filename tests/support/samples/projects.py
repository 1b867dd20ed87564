"""Bodies for projects and their roles, and what such calls use up."""

from __future__ import annotations

from tests.support.samples.searches import BY_NAME

FULL_PROJECT = {
    "name": "Shop",
    "projectRoleAssertion": False,
    "projectRoleCheck": False,
    "hasProjectCheck": False,
}
_PROJECT = "/management/v1/projects/{projectId}"
_ROLE = f"{_PROJECT}/roles/{{roleKey}}"
BODIES = {
    "POST /management/v1/projects/_search": (BY_NAME,),
    "POST /management/v1/projects": (FULL_PROJECT,),
    f"PUT {_PROJECT}": (FULL_PROJECT,),
    f"POST {_PROJECT}/roles": (
        {"roleKey": "buyer-{n}", "displayName": "Buyer", "group": "customers"},
    ),
    f"PUT {_ROLE}": ({"displayName": "Buyer {n}", "group": "customers"},),
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


MADE = {
    f"POST {_PROJECT}/_deactivate": new_project,
    f"POST {_PROJECT}/_reactivate": shut,
    f"DELETE {_PROJECT}": new_project,
    f"PUT {_ROLE}": new_role,
    f"DELETE {_ROLE}": new_role,
}
