"""Erasure of a person's data in the audit log: the payloads of sealed events and their salts are
removed, and the digests that are left keep the chain valid.

What an event needs in order to be found stays: its type, its time, and the ids of the record, the
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
_AT_ONCE: Final = 200


class Erasure(Struct):
    """What an erasure did: how many of the user's events it found and erased, and how many it
    could not erase yet because they are not sealed."""

    events: int = 0
    erased: int = 0
    unsealed: int = 0


async def erase(service: Service, user_id: str, actor: str) -> Erasure:
    """Erases the payloads of the events about a user, and of the user's sessions, authorizations
    and refused attempts; the user may be deleted already.

    What the user changed in other records stays. The event of the erasure is in its first unit.
    After a crash it may be repeated. Raises NotFound if there is no such event; ChainLost,
    WrongKey, StorageError.
    """
    await sealing.seal(service)
    state = await sealing.read_state(service) or ChainState.empty()
    result = Erasure()
    async for events in _events(service, user_id):
        result.events += len(events)
        result.unsealed += sum(event.position is None for event in events)
        sealed = [event for event in events if event.position is not None and event.payload]
        if sealed:
            also = [] if result.erased else [_event(service, sealed[0], user_id, actor)]
            updates = [_erasure(state.key, event) for event in sealed]
            result.erased += await _erase(service, updates, also)
    if not result.events:
        raise NotFound("there is no event of such a user")
    return result


async def _events(service: Service, user_id: str) -> AsyncIterator[list[Event]]:
    """Yields the user's events, some at a time, each once."""
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
        page = await service.store.find(EVENTS, where, order="at", limit=_AT_ONCE, after=after)
        yield page.records
        if page.after is None:
            return
        after = page.after


def _is_about(event: Event, user_id: str) -> bool:
    is_theirs = event.collection == USERS.name and event.record_id == user_id
    return is_theirs and event.type != ERASED  # which has no payload


async def _erase(service: Service, updates: Sequence[Update], also: Sequence[Write]) -> int:
    """Erases payloads by these updates; returns of how many events. Those that retention has
    removed meanwhile are left out."""
    try:
        await commit_confirmed(service.store, *also, *updates)
    except Stale:
        return await _erase_each(service, updates, also)
    return len(updates)


async def _erase_each(service: Service, updates: Sequence[Update], also: Sequence[Write]) -> int:
    erased = 0
    for update in updates:
        with suppress(Stale):
            await commit_confirmed(service.store, *([] if erased else also), update)
            erased += 1
    return erased


def _erasure(key: bytes, event: Event) -> Update:
    digest = chain.payload_digest(event)
    mac = chain.erasure_mac(key, event, digest)
    return Update(
        EVENTS,
        event.id,
        set={"payload": [], "salt": None, "payload_digest": digest, "erasure_mac": mac},
        expect={"chain": event.chain},
    )


def _event(service: Service, erased: Event, user_id: str, actor: str) -> Insert:
    """The event that payloads are erased; it has none itself."""
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
