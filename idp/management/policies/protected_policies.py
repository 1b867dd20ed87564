"""Protection of the policies that decide how administrators of the installation sign in.

The managers of an organization that such administrators belong to have fewer rights than they do.
By a policy they could switch off the second factor of an administrator, or let a stranger lock one
by wrong passwords.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from idp.foundation.errors import PermissionDenied
from idp.management.call import Call
from idp.records import MEMBERSHIPS, USERS, User
from idp.search import paging
from idp.service import Service

SIGN_IN_KINDS: Final = frozenset({"login", "lockout", "password_complexity", "password_age"})


async def check(service: Service, call: Call, org_id: str, kind: str) -> None:
    """Checks that the call may set the organization's policy of this kind.

    Raises PermissionDenied if the policy decides how users sign in, a user of the organization has
    a role of the installation, and the caller is no owner of the installation.
    """
    if kind not in SIGN_IN_KINDS or "iam.write" in call.rights.everywhere:
        return
    async for user in _administrators(service):
        if user.org_id == org_id:
            message = "the policy applies to administrators of the installation"
            raise PermissionDenied(message, error_code="policy.protected")


async def _administrators(service: Service) -> AsyncIterator[User]:
    """Yields the users with a role of the installation."""
    async for membership in paging.each(service, MEMBERSHIPS, {"org_id": None}):
        user = await service.store.get(USERS, membership.user_id)
        if user is not None:
            yield user
