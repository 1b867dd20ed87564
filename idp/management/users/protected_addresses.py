"""Protection of e-mail addresses that users with more rights than the caller sign in with.

Several users of an organization may have the same e-mail address, but then none of them can sign
in with it. So a caller who could declare any address verified could take a login name away from an
administrator. A code that was mailed is different: the user has access to that mailbox.
"""

from __future__ import annotations

from idp.foundation.errors import PermissionDenied
from idp.identity.users import lookup as user_lookup
from idp.identity.users import permissions
from idp.management.call import Call
from idp.records import USERS, User
from idp.search import paging
from idp.service import Service


async def check(service: Service, call: Call, user: User) -> None:
    """Checks that the call may declare the user's e-mail address verified.

    Raises PermissionDenied if another user, who has more rights than the caller, signs in with the
    address.
    """
    if user.email is not None:
        await check_address(service, call, user.email.address, user.org_id, user.id)


async def check_address(
    service: Service, call: Call, address: str, org_id: str, user_id: str | None
) -> None:
    """Checks the same for a user of this organization who has the address. `user_id` is None for a
    new user whose id the call does not name."""
    where = {"address_key": user_lookup.login_key(address)}
    async for holder in paging.each(service, USERS, where):
        may_conflict = call.is_by_instance or holder.org_id == org_id
        if holder.id == user_id or holder.email_key is None or not may_conflict:
            continue
        if not call.rights.cover(await permissions.of_user(service, holder.id)):
            message = (
                "a user with permissions that the caller doesn't have signs in with this address"
            )
            raise PermissionDenied(message, error_code="email.protected")
