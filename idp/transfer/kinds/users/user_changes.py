"""The consequences of changing an existing user by an import.

A changed password, second factor or state revokes all sessions and tokens of the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships, password_change
from idp.records import User
from idp.transfer.kinds.kind import ImportContext
from storage import Write


def ends_all(stored: User, values: Mapping[str, Any]) -> bool:
    """Returns whether setting the fields `values` of the existing user `stored` revokes all
    sessions and tokens of that user.
    """
    is_shut_out = values.get("state", "active") != "active"
    return is_shut_out or "totp" in values or has_other_password(stored, values)


def has_other_password(stored: User, values: Mapping[str, Any]) -> bool:
    """Returns whether `values` has another password than the user `stored`, and not only other
    metadata of the same one.
    """
    password = values.get("password")
    return password is not None and (
        stored.password is None or password.hash != stored.password.hash
    )


async def accompanying_writes(
    context: ImportContext, stored: User, values: Mapping[str, Any]
) -> list[Write]:
    """Returns the writes that the caller commits together with setting the fields `values` of the
    user `stored`; empty if this ends none of the user's sessions (`ends_all`).

    They are: the logout messages of all sessions; if the user is deactivated, guards that every
    organization of which the user is an owner, and the installation, has another active owner;
    with another password, the deletion of the one-time password that the start printed for the
    first administrator. Raises FailedPrecondition if one of them would have no active owner.
    """
    if not ends_all(stored, values):
        return []
    service = context.service
    subject = await user_lookup.subject_of(service, stored)
    if subject is None:
        return []
    writes = await session_lifetime.logout_messages_of_all(service, subject)
    if values.get("state", "active") != "active":
        writes += await memberships.owner_guards(service, stored.id)
    if has_other_password(stored, values):
        now = service.clock.now()
        writes += password_change.forget_first_password(
            service, subject.instance, stored.id, actor=context.actor, now=now
        )
    return writes
