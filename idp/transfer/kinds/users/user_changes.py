"""The consequences of changing an existing user by an import.

A changed password, second factor or state revokes everything that was issued to the user.
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


def ends_all(known: User, values: Mapping[str, Any]) -> bool:
    """Returns whether setting the fields `values` of the existing user `known` revokes all
    sessions and tokens of that user.
    """
    is_shut_out = values.get("state", "active") != "active"
    return is_shut_out or "totp" in values or has_other_password(known, values)


def has_other_password(known: User, values: Mapping[str, Any]) -> bool:
    """Returns whether `values` has another password than the user `known`, and not only other
    metadata of the same one.
    """
    password = values.get("password")
    return password is not None and (
        known.password is None or password.hash != known.password.hash
    )


async def besides(context: ImportContext, known: User, values: Mapping[str, Any]) -> list[Write]:
    """Returns the writes that the caller commits together with setting the fields `values` of the
    user `known`: logout messages where sessions end, guards that what the user owns keeps an
    active owner, and the removal of a first password.

    Raises FailedPrecondition if no other user is an active owner.
    """
    if not ends_all(known, values):
        return []
    service = context.service
    subject = await user_lookup.subject_of(service, known)
    if subject is None:
        return []
    writes = await session_lifetime.logout_messages_of_all(service, subject)
    if values.get("state", "active") != "active":
        writes += await memberships.owner_guards(service, known.id)
    if has_other_password(known, values):
        now = service.clock.now()
        writes += password_change.forget_first_password(
            service, subject.instance, known.id, actor=context.actor, now=now
        )
    return writes
