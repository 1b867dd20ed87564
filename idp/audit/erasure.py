"""Erasure of a person's data in the audit log: the payloads of sealed events and their salts are
removed, and the digests that are left keep the chain valid.

The fields by which an event is found remain: its type, its time, and the ids of the record, the
actor and the organization.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

from idp.audit import chain, sealing
from idp.audit.event_types import stream_of
from idp.audit.sealing import ChainState
from idp.foundation.errors import NotFound
from idp.records import EVENTS, USERS, Event
from idp.service import Service
from storage import Cursor, Insert, Stale, Update, Where, Write
from storage.confirmed_commit import commit_confirmed

ERASED: Final = "audit.payloads_erased"
_PAGE_SIZE: Final = 200


class Erasure(Struct):
    """The result of an erasure: how many of the user's events were found, how many were erased,
    and how many could not be erased yet because they are not sealed."""

    events: int = 0
    erased: int = 0
    unsealed: int = 0


async def erase(service: Service, user_id: str, actor: str) -> Erasure:
    """Erases the payloads of the events about a user, and of the user's sessions, authorizations
    and refused attempts; the user may be deleted already.

    Events of other records that the user changed keep their payloads. The event of the erasure is
    in its first unit. After a crash it may be repeated. Raises NotFound if there is no such event;
    ChainLost, WrongKey, StorageError.
    """
    await sealing.seal(service)
    state = await sealing.read_state(service) or ChainState.empty()
    result = Erasure()
    async for events in _events(service, user_id):
        result.events += len(events)
        result.unsealed += sum(event.position is None for event in events)
        sealed = [event for event in events if event.position is not None and event.payload]
        if sealed:
            further_writes = [] if result.erased else [_event(service, sealed[0], user_id, actor)]
            updates = [_erasure_update(state.key, event) for event in sealed]
            result.erased += await _erase(service, updates, further_writes)
    if not result.events:
        raise NotFound("there is no event of such a user")
    return result


async def _events(service: Service, user_id: str) -> AsyncIterator[list[Event]]:
    """Yields the user's events in batches, each event once."""
    async for events in _pages(service, {"record_id": user_id}):
        yield [event for event in events if _is_about(event, user_id)]
    async for events in _pages(service, {"actor": user_id}):
        yield [
            event
            for event in events
            if stream_of(event.type) != "change" and not _is_about(event, user_id)
        ]


async def _pages(service: Service, where: Where) -> AsyncIterator[Sequence[Event]]:
    after: Cursor | None = None
    while True:
        page = await service.store.find(EVENTS, where, order="at", limit=_PAGE_SIZE, after=after)
        yield page.records
        if page.after is None:
            return
        after = page.after


def _is_about(event: Event, user_id: str) -> bool:
    is_of_user = event.collection == USERS.name and event.record_id == user_id
    return is_of_user and event.type != ERASED  # which has no payload


async def _erase(
    service: Service, updates: Sequence[Update], further_writes: Sequence[Write]
) -> int:
    """Erases payloads by these updates; returns the number of erased payloads, without the events
    that retention has removed meanwhile."""
    try:
        await commit_confirmed(service.store, *further_writes, *updates)
    except Stale:
        return await _erase_each(service, updates, further_writes)
    return len(updates)


async def _erase_each(
    service: Service, updates: Sequence[Update], further_writes: Sequence[Write]
) -> int:
    erased = 0
    for update in updates:
        with suppress(Stale):
            await commit_confirmed(service.store, *([] if erased else further_writes), update)
            erased += 1
    return erased


def _erasure_update(key: bytes, event: Event) -> Update:
    digest = chain.payload_digest(event)
    mac = chain.erasure_mac(key, event, digest)
    return Update(
        EVENTS,
        event.id,
        set={"payload": [], "salt": None, "payload_digest": digest, "erasure_mac": mac},
        expect={"chain": event.chain},
    )


def _event(service: Service, erased: Event, user_id: str, actor: str) -> Insert:
    """The event that records the erasure; it has no payload itself."""
    now = service.clock.now()
    event = Event(
        id=service.random.ordered_id(now),
        collection=USERS.name,
        record_id=user_id,
        sequence=0,
        type=ERASED,
        actor=actor,
        at=now,
        org_id=erased.org_id,
    )
    return Insert(EVENTS, event)
