"""Policies that decide how people sign in, of an organization in which the installation's
administrators live.

Its own managers may do less than those people: by policy they could switch off the second factor
of an administrator, or have one locked by a stranger's wrong password.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from idp.foundation.errors import PermissionDenied
from idp.management.call import Call
from idp.records import MEMBERSHIPS, USERS, User
from idp.search import paging
from idp.service import Service

OF_SIGN_INS: Final = frozenset({"login", "lockout", "password_complexity", "password_age"})


async def check(service: Service, call: Call, org_id: str, kind: str) -> None:
    """See that the call may set this kind of policy of the organization. Raises PermissionDenied:
    people with a role of the installation live there, and the caller has none that may as much."""
    if kind not in OF_SIGN_INS or "iam.write" in call.rights.everywhere:
        return
    async for user in _administrators(service):
        if user.org_id == org_id:
            told = "administrators of the installation sign in by this policy"
            raise PermissionDenied(told, slug="policy.protected")


async def _administrators(service: Service) -> AsyncIterator[User]:
    """The users with a role of the installation."""
    async for membership in paging.each(service, MEMBERSHIPS, {"org_id": None}):
        user = await service.store.get(USERS, membership.user_id)
        if user is not None:
            yield user
