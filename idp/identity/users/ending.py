"""The writes for a user who is deactivated, locked or removed."""

from __future__ import annotations

from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships
from idp.records import User
from idp.service import Service
from storage import Write


async def ending_writes(service: Service, user: User) -> list[Write]:
    """Returns the writes to commit in the unit that deactivates, locks or removes the user.

    They are logout tokens for applications, and guards that everything the user owns has another
    active owner. Raises FailedPrecondition if it has none.
    """
    guards = await memberships.owner_guards(service, user.id)
    subject = await user_lookup.subject_of(service, user)
    return [
        *guards,
        *(await session_lifetime.logout_messages_of_all(service, subject) if subject else []),
    ]
