"""Locks that end by time: whoever reads the user at a place where it matters ends them."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from idp.audit import drafts, events
from idp.records import USERS, User
from idp.service import Service
from storage import Stale

ACTOR: Final = "lockout"


def is_over(service: Service, user: User) -> bool:
    """Whether the user is locked, and the lock's time has passed."""
    ends_at = user.locked_until
    return user.state == "locked" and ends_at is not None and ends_at <= service.clock.now()


async def lifted(service: Service, user: User) -> User:
    """The user as they are now: active again when the lock's time has passed.

    The stamp stays, so nothing that the lock has ended comes back.
    """
    if not is_over(service, user):
        return user
    changes = {"state": "active", "locked_until": None, "changed_at": service.clock.now()}
    now, type = service.clock.now(), "user.unlocked"
    with suppress(Stale):  # somebody else was faster
        await drafts.undrafted(service).store.commit(
            *events.update(service.random, USERS, user, changes, type, ACTOR, now)
        )
    return await service.store.get(USERS, user.id) or user
