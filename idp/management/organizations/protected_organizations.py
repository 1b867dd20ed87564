"""Decides which organizations a call may deactivate or delete, with every user and record in them.

A call must not end together with an organization what the caller could not end by itself: users
who have more rights than the caller, also in other organizations, and applications with management
access.
"""

from __future__ import annotations

from typing import Final

from idp.foundation.errors import PermissionDenied
from idp.identity.users import permissions
from idp.identity.users.permissions import ORGANIZATION_ROLES
from idp.management.call import Call
from idp.management.projects import management_access
from idp.records import MEMBERSHIPS, PROJECTS, USERS, Organization
from idp.search import paging
from idp.service import Service
from storage import Where

_AT_ONCE: Final = 500  # users that are read together


async def check(service: Service, call: Call, organization: Organization) -> None:
    """Checks that the call may deactivate or delete the organization.

    Raises PermissionDenied if a user in it has more rights than the caller, or only owners of the
    installation may end one of its applications.
    """
    if "iam.write" in call.rights.everywhere:
        return
    above = await _users_with_more_rights(service, call)
    for start in range(0, len(above), _AT_ONCE):
        keys = [(USERS, user_id) for user_id in above[start : start + _AT_ONCE]]
        for user in await service.store.get_many(keys):
            if user is not None and user.org_id == organization.id:
                raise PermissionDenied("somebody in the organization may do more than the caller")
    inside = paging.walk(service.store, PROJECTS, {"org_id": organization.id}, order="name")
    async for project in inside:
        await management_access.check(service, call, project)


async def _users_with_more_rights(service: Service, call: Call) -> list[str]:
    """Returns the ids of the users who have a role that allows more than the caller may do in the
    role's organization."""
    found = paging.each(service, MEMBERSHIPS, _memberships_to_check(call))
    return [
        one.user_id
        async for one in found
        if not call.rights.cover(permissions.of_roles(one.org_id, one.roles))
    ]


def _memberships_to_check(call: Call) -> Where:
    """Returns the condition for the memberships to check.

    For a caller who may do everything in every organization, only members of the installation can
    have more rights.
    """
    anywhere = permissions.of_roles("any", [*ORGANIZATION_ROLES])
    return {"org_id": None} if call.rights.cover(anywhere) else {}
