"""What a change leaves to be gone through: kept in the change's unit, forgotten when it is done.

So a deletion needs one unit, however much hangs on what is deleted, and a crash loses nothing:
what the call itself does not come to, `idp/background/deferred_work.py` does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

from idp.audit import drafts, versioned_updates
from idp.records import LEFTOVERS, Leftover, LeftoverKind
from idp.service import Service
from storage import Collection, Delete, Stale, Unavailable, Unknown, Where

AT_ONCE: Final = 500  # records that one step goes through

# Goes a bounded part of the way; whether that was the end of it. It may be done twice.
Step: TypeAlias = Callable[[Service, Leftover], Awaitable[bool]]


def new(
    service: Service, kind: LeftoverKind, owner_id: str, actor: str, org_id: str | None = None
) -> Leftover:
    """A record for the unit of the change. `org_id` is for what does not say it by itself."""
    return Leftover(
        id=service.random.id(),
        kind=kind,
        owner_id=owner_id,
        actor=actor,
        created_at=service.clock.now(),
        org_id=org_id,
    )


async def begin(service: Service, leftover: Leftover, step: Step) -> None:
    """Go one step, after the unit. Nothing that fails here is lost, or changes the answer."""

    async def go_on() -> None:
        with suppress(Unavailable, Unknown, Stale):
            await go(service, leftover, step)

    await drafts.afterwards(service, go_on)


async def go(service: Service, leftover: Leftover, step: Step) -> bool:
    """Go one step; whether it was the last. Raises StorageError."""
    is_done = await step(service, leftover)
    if is_done:
        await service.store.commit(Delete(LEFTOVERS, leftover.id))
    return is_done


async def emptied(
    service: Service,
    collection: Collection[Any],
    where: Where,
    type: str,
    actor: str,
    order: str | None = None,
    org_id: str | None = None,
) -> bool:
    """Remove the first records of a declared list, each with its event; whether none is left.

    Raises StorageError.
    """
    page = await service.store.find(collection, where, order=order, limit=AT_ONCE)
    now = service.clock.now()
    units = [
        versioned_updates.removal(service, collection, one, type, actor, now, org_id)
        for one in page.records
    ]
    outcomes = await service.store.commit_each(units)
    for outcome in outcomes:
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome
    return page.after is None and not any(outcomes)
