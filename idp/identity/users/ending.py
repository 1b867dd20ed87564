"""What is written when a user ends: by deactivation, a lock, or removal."""

from __future__ import annotations

from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships
from idp.records import User
from idp.service import Service
from storage import Write


async def ending_writes(service: Service, user: User) -> list[Write]:
    """The writes that belong to the end of a user: news for applications, and guards that what
    they own keeps an active owner. Raises FailedPrecondition."""
    guards = await memberships.what_stays(service, user.id)
    subject = await user_lookup.subject_of(service, user)
    return [*guards, *(await session_lifetime.news_of_all(service, subject) if subject else [])]
