"""Finds the users that a call may change: those with no right that the caller does not have."""

from __future__ import annotations

from idp.foundation.errors import FailedPrecondition, PermissionDenied
from idp.identity.users import permissions
from idp.management.call import Call
from idp.management.users import read as user_read
from idp.records import User
from idp.service import Service


async def find(service: Service, call: Call, user_id: str) -> User:
    """Returns a user whom the call may change: the caller has the permission in the user's
    organization, and every right that the user has.

    Raises NotFound, PermissionDenied.
    """
    user = await user_read.find(service, call, user_id)
    if call.is_about_caller(user.id):
        return user
    if not call.rights.cover(await permissions.of_user(service, user.id)):
        raise PermissionDenied("the user has permissions that the caller doesn't have")
    return user


async def find_person(service: Service, call: Call, user_id: str) -> User:
    """Returns a person whom the call may change: the caller has the permission in the person's
    organization, and every right that the person has.

    Raises NotFound, PermissionDenied, FailedPrecondition (the user is a service user).
    """
    user = await find(service, call, user_id)
    if user.kind != "human":
        raise FailedPrecondition("this is a service user", error_code="user.not_human")
    return user
