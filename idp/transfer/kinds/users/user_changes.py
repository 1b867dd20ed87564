"""What belongs to a change of a user who is there, whatever changes it.

A password, a factor or a state that changes ends all that was issued to them.
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
    """Whether all that was issued to the user ends by such a change."""
    is_shut_out = values.get("state", "active") != "active"
    return is_shut_out or "totp" in values or has_other_password(known, values)


def has_other_password(known: User, values: Mapping[str, Any]) -> bool:
    """Whether the password itself changes, and not only what is kept with it."""
    password = values.get("password")
    return password is not None and (
        known.password is None or password.hash != known.password.hash
    )


async def besides(taking: ImportContext, known: User, values: Mapping[str, Any]) -> list[Write]:
    """What belongs into the unit of such a change: news for applications where sessions end,
    guards that what the user owns keeps an active owner, the end of a first password.

    Raises FailedPrecondition: nobody else is an active owner.
    """
    if not ends_all(known, values):
        return []
    service = taking.service
    subject = await user_lookup.subject_of(service, known)
    if subject is None:
        return []
    writes = await session_lifetime.news_of_all(service, subject)
    if values.get("state", "active") != "active":
        writes += await memberships.what_stays(service, known.id)
    if has_other_password(known, values):
        now = service.clock.now()
        writes += password_change.forget_first_password(
            service, subject.instance, known.id, actor=taking.actor, now=now
        )
    return writes
