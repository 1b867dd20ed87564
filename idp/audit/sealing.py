"""Sealing of events: each gets the next position of its stream and its value in the chain.

Ids of events are ordered by clocks, so a reader that remembers the last one would miss an event
that is stored late, with an earlier time. Positions are given out by this task alone, after the
events are stored: an event that becomes visible late gets a later position. So a position
never changes, none is left out, and a reader misses nothing.

The new positions and the heads of the streams are one unit, which fails if another process has
sealed events meanwhile. A process that is killed leaves nothing half-sealed.

Sealing an event costs the processors about as much as its own write on SQLite, and one and a half
times as much on MongoDB, whose server does more than half of it: an event that gets a position
moves in a list, and then both stores compute its keys in all lists again. The hashes are a sixth.
One record for 200 events would cost a thirtieth, but an event that is stored late could then only
be found by a search through all events, since nothing in the event would say that it is sealed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from msgspec import Struct, structs

from idp.audit import chain, heads
from idp.audit.event_types import STREAMS, stream_of
from idp.foundation import logs
from idp.foundation.errors import IdpError
from idp.records import (
    AUDIT_HEADS,
    AUDIT_KEYS,
    CHAIN_KEY_ID,
    EVENTS,
    AuditHead,
    AuditKey,
    Event,
    EventStream,
)
from idp.service import Service
from storage import Conflict, Cursor, Insert, Stale, Update, Where, Write
from storage.confirmed_commit import commit_confirmed

EVERY_SECONDS: Final = 1
BATCH_SIZE: Final = 200
# Of one turn, so that its lease does not expire; what remains is sealed in the next one.
_TURN_SECONDS: Final = 10.0
# Until then, an older version of the program may update its counts of refused attempts.
_FINAL_AFTER: Final = timedelta(minutes=15)
# Before an installation that has events removes any by the settings, which may be new to it.
GRACE: Final = timedelta(days=30)
NEW: Final = timedelta(days=1)
_UNSEALED: Final[Where] = {"stream": None, "position": None}

_log = logs.logger(__name__)


class ChainLost(IdpError):
    """There are sealed events, but the key of their chain or a head is not in the store."""

    def __init__(self) -> None:
        super().__init__(
            "the key or a head of the audit log's chain is missing in the store: events can't be"
            " sealed. Find out who changed the database, and restore a backup."
        )


class ChainState(Struct, frozen=True):
    """The key of the chains and the heads of all streams, as they are stored."""

    key: bytes
    heads: Mapping[EventStream, AuditHead]

    @classmethod
    def empty(cls) -> ChainState:
        """Returns the state of an installation in which no event was ever sealed."""
        return cls(b"", {name: AuditHead(id=name) for name in STREAMS})


async def has_unsealed(service: Service) -> bool:
    """Whether there is an event that is not sealed."""
    return bool((await service.store.find(EVENTS, _UNSEALED, limit=1)).records)


class Unsealed(NamedTuple):
    """How many events are not sealed, and since when the oldest of them exists."""

    number: int
    oldest: datetime | None


async def unsealed(service: Service, *, up_to: int) -> Unsealed:
    """Returns the number of events that are not sealed, and the time of the oldest. No more than
    `up_to` events are counted."""
    page = await service.store.find(EVENTS, _UNSEALED, limit=BATCH_SIZE)
    count = len(page.records)
    if page.after is not None:
        count = await service.store.count(EVENTS, _UNSEALED, up_to=up_to)
    return Unsealed(count, min((event.at for event in page.records), default=None))


async def seal(service: Service) -> None:
    """Seals the events that are stored, the oldest first, for at most ten seconds. Raises
    ChainLost, WrongKey, StorageError."""
    ends_at = service.timer.monotonic() + _TURN_SECONDS
    while service.timer.monotonic() < ends_at:
        began_at = service.timer.monotonic()
        if await seal_some(service) < BATCH_SIZE:
            return
        # Half of the time is left to requests: after an upgrade there may be many old events.
        await service.timer.sleep(service.timer.monotonic() - began_at)


async def seal_some(service: Service) -> int:
    """Seals the oldest events that are not sealed, up to 200, in one unit; returns how many.

    Returns 0 if another process has sealed or changed some of them meanwhile. Raises ChainLost,
    WrongKey, StorageError.
    """
    events = await _unsealed(service)
    if not events:
        return 0
    state = await prepared_state(service, events[0].at)
    try:
        await commit_confirmed(service.store, *_writes(service, state, events))
    except Stale:
        return 0
    return len(events)


async def prepared_state(service: Service, first_at: datetime) -> ChainState:
    """Returns the state of the chains, which is stored first if there is none yet. `first_at` is
    the time of the oldest event. Raises ChainLost, WrongKey, StorageError."""
    state = await read_state(service)
    if state is None:
        try:
            await commit_confirmed(service.store, *_first_writes(service, first_at))
            _log.info("the chains of the audit log begin")
        except Conflict:
            _log.debug("another process has begun the chains")
        state = await read_state(service)
    if state is None:
        raise ChainLost()
    return state


async def read_state(service: Service) -> ChainState | None:
    """Returns the state of the chains; None if no event was ever sealed. Raises ChainLost,
    WrongKey, StorageError."""
    # Twice: the first reading may find a part of what another process stores meanwhile.
    for _ in range(2):
        record, *stored = await service.store.get_many([(AUDIT_KEYS, CHAIN_KEY_ID), *heads.KEYS])
        stored_heads = [head for head in heads.merged(stored) if head is not None]
        if record is None and not stored_heads:
            return None
        if isinstance(record, AuditKey) and len(stored_heads) == len(STREAMS):
            key = chain.open_key(service, record)
            return ChainState(key, dict(zip(STREAMS, stored_heads, strict=True)))
    raise ChainLost()


def _first_writes(service: Service, first_at: datetime) -> list[Write]:
    now = service.clock.now()
    removable_from = now + GRACE if first_at < now - NEW else now
    new_heads = [AuditHead(id=name, removable_from=removable_from) for name in STREAMS]
    return [
        Insert(AUDIT_KEYS, chain.new_key(service)),
        *(Insert(AUDIT_HEADS, head) for head in new_heads),
    ]


async def _unsealed(service: Service) -> list[Event]:
    """Returns the oldest events that can be sealed, in the order of time."""
    events, now = list[Event](), service.clock.now()
    after: Cursor | None = None
    while len(events) < BATCH_SIZE:
        page = await service.store.find(EVENTS, _UNSEALED, limit=BATCH_SIZE, after=after)
        events += [event for event in page.records if _is_final(event, now)]
        after = page.after
        if after is None:
            break
    return sorted(events[:BATCH_SIZE], key=lambda event: (event.at, event.id))


def _is_final(event: Event, now: datetime) -> bool:
    """Whether no program updates the event any more."""
    is_count = stream_of(event.type) == "failure"
    return not is_count or bool(event.is_final) or event.at <= now - _FINAL_AFTER


def _writes(service: Service, state: ChainState, events: Sequence[Event]) -> list[Write]:
    """The writes that seal these events, after those that are sealed already."""
    writes, new_heads = list[Write](), dict(state.heads)
    for event in events:
        name = stream_of(event.type)
        head = new_heads[name]
        fields: dict[str, Any] = {"stream": name, "position": head.position + 1}
        if event.payload and event.salt is None:
            fields["salt"] = chain.new_salt(service.random)
        sealed = structs.replace(event, **fields)
        fields["chain"] = chain.value(state.key, head.chain, sealed)
        writes.append(Update(EVENTS, event.id, set=fields, expect={"position": None}))
        new_heads[name] = structs.replace(head, position=sealed.position, chain=fields["chain"])
    return [*_head_updates(state.heads, new_heads), *writes]


def _head_updates(
    before: Mapping[EventStream, AuditHead], after: Mapping[EventStream, AuditHead]
) -> list[Update]:
    return [
        Update(
            AUDIT_HEADS,
            name,
            set={"position": head.position, "chain": head.chain},
            expect={"position": before[name].position},
        )
        for name, head in after.items()
        if head.position != before[name].position
    ]
