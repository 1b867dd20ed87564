"""Users that a call may change: nobody changes who may do more than they."""

from __future__ import annotations

from idp.foundation.errors import FailedPrecondition, PermissionDenied
from idp.identity.users import permissions
from idp.management.call import Call
from idp.management.users import read as user_read
from idp.records import User
from idp.service import Service


async def find(service: Service, call: Call, user_id: str) -> User:
    """A user that the call reaches, and who may do nothing that the caller may not.

    Raises NotFound, PermissionDenied.
    """
    user = await user_read.find(service, call, user_id)
    if call.is_about_caller(user.id):
        return user
    if not call.rights.cover(await permissions.of_user(service, user.id)):
        raise PermissionDenied("the user may do more than the caller")
    return user


async def find_person(service: Service, call: Call, user_id: str) -> User:
    """The same, for what only people have. Raises FailedPrecondition, too."""
    user = await find(service, call, user_id)
    if user.kind != "human":
        raise FailedPrecondition("this is a service user", slug="user.not_human")
    return user
