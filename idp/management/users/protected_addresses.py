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
    if user.email is None:
        return
    where = {"address_key": user_lookup.login_key(user.email.address)}
    async for holder in paging.each(service, USERS, where):
        may_conflict = call.is_by_instance or holder.org_id == user.org_id
        if holder.id == user.id or holder.email_key is None or not may_conflict:
            continue
        if not call.rights.cover(await permissions.of_user(service, holder.id)):
            message = (
                "a user with permissions that the caller doesn't have signs in with this address"
            )
            raise PermissionDenied(message, error_code="email.protected")
