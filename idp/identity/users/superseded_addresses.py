"""Addresses verified by an organization's statement alone, which a user elsewhere then verified.

Look-ups prefer the user who verified the address, so the other user can no longer sign in by it.
Deferred work makes that permanent, with an event for each user concerned.
"""

from __future__ import annotations

from idp.audit import deferred_work, events
from idp.audit.deferred_work import BATCH_SIZE
from idp.audit.events import AuditEntry
from idp.identity.users.lookup import scoped_prefix
from idp.records import DEFERRED_WORK, USERS, DeferredWork
from idp.service import Service
from storage import Insert, Stale, StartsWith, Write


async def deferred_writes(service: Service, key: str, actor: str) -> list[Write]:
    """Returns the write that records this deferred work if there are such users, for the unit that
    verifies the address; otherwise none.

    `key` is the address in the form `lookup.login_key`; `actor` is that of the later events.
    """
    holders = await service.store.find(USERS, _asserted(key), limit=1)
    return [deferred_write(service, key, actor)] if holders.records else []


def deferred_write(service: Service, key: str, actor: str) -> Insert:
    """Returns the write that records this deferred work as `deferred_writes` does, without a check
    whether there are such users."""
    return Insert(DEFERRED_WORK, deferred_work.new(service, "email.superseded", key, actor))


async def process_page(service: Service, work: DeferredWork) -> bool:
    """Does the next step of the recorded work: removes the address as a login name from some of
    these users. Returns whether they were the last."""
    key = work.owner_id
    verified = await service.store.find(USERS, {"email_key": key}, limit=1)
    if not verified.records:
        return True  # the user who verified it has another address now, or was removed
    page = await service.store.find(USERS, _asserted(key), limit=BATCH_SIZE)
    now = service.clock.now()
    changes = {"email.is_superseded": True, "email_key": None, "changed_at": now}
    entry = AuditEntry("user.email_superseded", work.actor, now)
    units = [events.update(service.random, USERS, user, changes, entry) for user in page.records]
    outcomes = await service.store.commit_each(units)
    for outcome in outcomes:
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome
    return page.after is None and not any(outcomes)


def _asserted(key: str) -> dict[str, StartsWith]:
    return {"email_key": StartsWith(scoped_prefix(key))}
