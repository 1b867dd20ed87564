"""Addresses that an organization called verified, and that somebody else then proved to have.

Sign-ins look for the proof first, so the other address is no login name from then on. What follows
in the background makes that last, and tells it by an event of each user concerned.
"""

from __future__ import annotations

from idp.audit import deferred_work, events
from idp.audit.deferred_work import AT_ONCE
from idp.identity.users.lookup import scoped_prefix
from idp.records import LEFTOVERS, USERS, Leftover
from idp.service import Service
from storage import Insert, Stale, StartsWith, Write


async def following(service: Service, key: str, actor: str) -> list[Write]:
    """The write that lets the others be followed up, if there are any; it goes into the unit by
    which the address with this key (`users.login_key`) is proven."""
    others = await service.store.find(USERS, _asserted(key), limit=1)
    return [noted(service, key, actor)] if others.records else []


def noted(service: Service, key: str, actor: str) -> Insert:
    """The write that lets others be looked for who have the address."""
    return Insert(LEFTOVERS, deferred_work.new(service, "email.superseded", key, actor))


async def follow(service: Service, leftover: Leftover) -> bool:
    """Let the address be no login name of those who never proved it; whether that was the end."""
    key = leftover.owner_id
    proven = await service.store.find(USERS, {"email_key": key}, limit=1)
    if not proven.records:
        return True  # whoever had proven it has another one by now, or is gone
    page = await service.store.find(USERS, _asserted(key), limit=AT_ONCE)
    now = service.clock.now()
    changes = {"email.is_superseded": True, "email_key": None, "changed_at": now}
    type = "user.email_superseded"
    units = [
        events.update(service.random, USERS, user, changes, type, leftover.actor, now)
        for user in page.records
    ]
    outcomes = await service.store.commit_each(units)
    for outcome in outcomes:
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome
    return page.after is None and not any(outcomes)


def _asserted(key: str) -> dict[str, StartsWith]:
    return {"email_key": StartsWith(scoped_prefix(key))}
