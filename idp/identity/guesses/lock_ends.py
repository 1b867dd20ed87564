"""Locks that end after a time: code that depends on a user's state lifts an expired lock when it
reads the user."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from idp import changes
from idp.records import USERS, User
from idp.service import Service
from storage import Stale

ACTOR: Final = "lockout"


def is_over(service: Service, user: User) -> bool:
    """Returns whether the user is recorded as locked although the lock's time has passed."""
    ends_at = user.locked_until
    return user.state == "locked" and ends_at is not None and ends_at <= service.clock.now()


async def lift_if_over(service: Service, user: User) -> User:
    """Ends the user's lock in the store if its time has passed, and returns the user as stored
    then.

    The security stamp does not change, so no session or token that the lock has ended becomes
    valid again.
    """
    if not is_over(service, user):
        return user
    values = {"state": "active", "locked_until": None}
    update = changes.updated(service, changes.by(ACTOR), USERS, user, values, "user.unlocked")
    with suppress(Stale):  # another request has lifted it
        await service.store.commit(*update.writes)
    return await service.store.get(USERS, user.id) or user
