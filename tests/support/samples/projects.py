"""Bodies for projects and their roles, and what such calls use up."""

from __future__ import annotations

FULL_PROJECT = {
    "name": "Shop",
    "projectRoleAssertion": False,
    "projectRoleCheck": False,
    "hasProjectCheck": False,
}
BODIES = {
    "POST /management/v1/projects": (FULL_PROJECT,),
    "POST /management/v1/projects/{projectId}/roles": (
        {"roleKey": "buyer-{n}", "displayName": "Buyer", "group": "customers"},
    ),
}


async def new_role(world):
    return {"projectId": world.project, "roleKey": await world.new_role()}


MADE = {"DELETE /management/v1/projects/{projectId}/roles/{roleKey}": new_role}
