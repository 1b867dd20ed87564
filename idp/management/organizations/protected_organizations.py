"""Decides which organizations a call may deactivate or delete, with every user and record in them.

A call that ends an organization also ends its users and applications. It must not end those that
the caller could not end one by one: users who have more rights than the caller, also in other
organizations, and applications with management access.
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

_USERS_PER_READ: Final = 500


async def check(service: Service, call: Call, organization: Organization) -> None:
    """Checks that the call may deactivate or delete the organization.

    Raises PermissionDenied if a user in it has more rights than the caller, or only owners of the
    installation may end one of its applications.
    """
    if "iam.write" in call.rights.everywhere:
        return
    user_ids = await _users_with_more_rights(service, call)
    for start in range(0, len(user_ids), _USERS_PER_READ):
        keys = [(USERS, user_id) for user_id in user_ids[start : start + _USERS_PER_READ]]
        for user in await service.store.get_many(keys):
            if user is not None and user.org_id == organization.id:
                raise PermissionDenied(
                    "a user of the organization has permissions that the caller doesn't have"
                )
    projects = paging.walk(service.store, PROJECTS, {"org_id": organization.id}, order="name")
    async for project in projects:
        await management_access.check(service, call, project)


async def _users_with_more_rights(service: Service, call: Call) -> list[str]:
    """Returns the ids of the users who have a role that allows more than the caller may do in the
    role's organization."""
    memberships = paging.each(service, MEMBERSHIPS, _memberships_to_check(call))
    return [
        membership.user_id
        async for membership in memberships
        if not call.rights.cover(permissions.of_roles(membership.org_id, membership.roles))
    ]


def _memberships_to_check(call: Call) -> Where:
    """Returns the condition for the memberships to check.

    For a caller who may do everything in every organization, only members of the installation can
    have more rights.
    """
    anywhere = permissions.of_roles("any", [*ORGANIZATION_ROLES])
    return {"org_id": None} if call.rights.cover(anywhere) else {}
