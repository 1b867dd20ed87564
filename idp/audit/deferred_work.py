"""Deferred work: what remains to be done after a change, recorded in the change's unit until it is
done.

So a deletion takes one unit, however many records depend on what is deleted, and a crash loses
nothing: the call itself does a first step of the work, and `idp/background/deferred_work.py` does
the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.records import DEFERRED_WORK, DeferredWork, DeferredWorkKind
from idp.service import Service
from storage import Collection, Delete, Stale, Unavailable, Unknown, Where

BATCH_SIZE: Final = 500  # records that one step processes

# Processes a bounded number of records; returns whether they were the last. A step may be
# repeated.
Step: TypeAlias = Callable[[Service, DeferredWork], Awaitable[bool]]


def new(
    service: Service, kind: DeferredWorkKind, owner_id: str, actor: str, org_id: str | None = None
) -> DeferredWork:
    """Returns the record of deferred work, which the caller inserts in the unit of the change.

    `owner_id` is the id of the record that was changed, `actor` that of the later events, and
    `org_id` the record's organization if the record does not determine it.
    """
    return DeferredWork(
        id=service.random.id(),
        kind=kind,
        owner_id=owner_id,
        actor=actor,
        created_at=service.clock.now(),
        org_id=org_id,
    )


def first_step(service: Service, work: DeferredWork, step: Step) -> Callable[[], Awaitable[None]]:
    """Returns the task that does the first step of the work by calling `step`, for after the unit
    that records the work is stored.

    If the step fails, the work remains recorded and is continued in the background; nothing is
    raised.
    """

    async def do_first_step() -> None:
        with suppress(Unavailable, Unknown, Stale):
            await do_step(service, work, step)

    return do_first_step


async def do_step(service: Service, work: DeferredWork, step: Step) -> bool:
    """Does one step of the work by calling `step`, and deletes the work's record if the step was
    the last; returns whether it was. Raises StorageError."""
    is_done = await step(service, work)
    if is_done:
        await service.store.commit(Delete(DEFERRED_WORK, work.id))
    return is_done


async def delete_some(
    service: Service,
    collection: Collection[Any],
    where: Where,
    type: str,
    actor: str,
    order: str | None = None,
    org_id: str | None = None,
) -> bool:
    """Deletes the first `BATCH_SIZE` records that match `where`, each with an event of this
    `type` by `actor`; returns whether no such record is left.

    `org_id` is the organization of records that do not contain it. Raises StorageError.
    """
    page = await service.store.find(collection, where, order=order, limit=BATCH_SIZE)
    now = service.clock.now()
    units = [
        events.removal(service.random, collection, record, AuditEntry(type, actor, now, org_id))
        for record in page.records
    ]
    outcomes = await service.store.commit_each(units)
    for outcome in outcomes:
        # A record that was changed meanwhile (Stale) is read again by the next step.
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome
    return page.after is None and not any(outcomes)
