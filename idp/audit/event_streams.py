"""Reading of sealed events by their positions: nothing is missed, and nothing returned twice.

A cursor is a position in each of some streams. Within a stream, events come in the order of their
positions; the order among streams means nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from idp.audit import heads as stream_heads
from idp.audit.event_types import STREAMS
from idp.foundation.errors import IdpError
from idp.keys.master_key import MasterKey, WrongKey
from idp.records import EVENTS, AuditHead, Event, EventStream
from idp.service import Service
from storage import Where

Positions = Mapping[EventStream, int]
Heads = Mapping[EventStream, AuditHead]

_PURPOSE: Final = "event cursor"
_PAGE_SIZE: Final = 101  # SQLite reads on the event loop, which must be free for other requests
_READ_SECONDS: Final = 2.0  # for one batch, of which perhaps no event matches
_LAST_ID: Final = chr(0x10FFFF)
_POLL_SECONDS: Final = 1.0


class CursorUnknown(IdpError):
    """The cursor was not made by this installation, or is beyond the end of a stream."""

    error_code = "events.cursor_unknown"


class CursorTooOld(IdpError):
    """Events after the cursor were removed by retention; `oldest` is the first cursor from which
    none is missing."""

    error_code = "events.cursor_too_old"

    def __init__(self, oldest: str) -> None:
        super().__init__("events after the cursor were removed by retention", field="cursor")
        self.oldest = oldest


class EventFilter(Struct, frozen=True):
    """Selects events by their streams, by their organization (None for all), and by the predicate
    `matches`."""

    streams: Sequence[EventStream] = STREAMS
    org_id: str | None = None
    matches: Callable[[Event], bool] = lambda event: True


class EventBatch(Struct):
    """Events, each with the positions after it, and the positions after everything that was read.

    With `is_end`, no stream had more events.
    """

    events: list[tuple[Event, Positions]]
    positions: Positions
    is_end: bool = False


def encode(master_key: MasterKey, positions: Positions) -> str:
    """Returns the positions as a cursor: a text that only this installation can read."""
    return master_key.seal_lasting(msgspec.json.encode(positions), _PURPOSE)


def decode(master_key: MasterKey, cursor: str) -> dict[EventStream, int]:
    """Returns the positions of a cursor. Raises CursorUnknown."""
    try:
        data = master_key.open_lasting(cursor, _PURPOSE)
        return msgspec.json.decode(data, type=dict[EventStream, int])
    except (WrongKey, UnicodeEncodeError, msgspec.MsgspecError):
        raise unknown_cursor("was not made by this service") from None


def unknown_cursor(reason: str) -> CursorUnknown:
    """Returns the error for a cursor that can't be used, for this reason."""
    return CursorUnknown(f"cursor: {reason}", field="cursor")


async def heads(service: Service) -> Heads:
    """Returns the heads of all streams, empty ones before the first event is sealed."""
    stored_heads = stream_heads.merged(await service.store.get_many(stream_heads.KEYS))
    return {
        name: head or AuditHead(id=name) for name, head in zip(STREAMS, stored_heads, strict=True)
    }


async def oldest(service: Service, streams: Sequence[EventStream]) -> Positions:
    """Returns the positions before the first stored events."""
    heads_now = await heads(service)
    return {name: heads_now[name].floor for name in streams}


async def latest(service: Service, streams: Sequence[EventStream]) -> Positions:
    """Returns the positions of the newest events."""
    heads_now = await heads(service)
    return {name: heads_now[name].position for name in streams}


async def read(
    service: Service, event_filter: EventFilter, positions: Positions, limit: int
) -> EventBatch:
    """Returns the next events after these positions, at most `limit`; possibly none although there
    are more, if most do not match.

    Raises CursorTooOld, CursorUnknown.
    """
    batch = EventBatch([], dict(positions))
    ends_at = service.timer.monotonic() + _READ_SECONDS
    for stream in event_filter.streams:
        if not await _read_stream(service, event_filter, stream, batch, limit, ends_at):
            break
    else:
        batch.is_end = True
    # After the reading, since retention may have removed events that were not read yet.
    _check(service, await heads(service), positions)
    return batch


def _check(service: Service, heads: Heads, positions: Positions) -> None:
    if any(position > heads[name].position for name, position in positions.items()):
        raise unknown_cursor("is beyond the last event")
    if any(position < heads[name].floor for name, position in positions.items()):
        oldest_positions = {name: max(heads[name].floor, each) for name, each in positions.items()}
        raise CursorTooOld(encode(service.master_key, oldest_positions))


async def _read_stream(
    service: Service,
    event_filter: EventFilter,
    stream: EventStream,
    batch: EventBatch,
    limit: int,
    ends_at: float,
) -> bool:
    """Adds the next events of a stream to the batch; returns whether the stream has no more."""
    where: Where = {"stream": stream}
    if event_filter.org_id is not None:
        where = {"org_id": event_filter.org_id, "stream": stream}
    while True:
        after = (batch.positions[stream], _LAST_ID)
        page = await service.store.find(
            EVENTS, where, order="position", after=after, limit=_PAGE_SIZE
        )
        for event in page.records:
            if len(batch.events) == limit:
                return False
            batch.positions = {**batch.positions, stream: event.position or 0}
            if event_filter.matches(event):
                batch.events.append((event, batch.positions))
        if page.after is None:
            return True
        if service.timer.monotonic() > ends_at:
            return False
        await asyncio.sleep(0)


async def wait(
    service: Service, positions: Positions, ends_at: float, is_over: Callable[[], bool]
) -> None:
    """Returns when an event is sealed beyond these positions of the heads, at `ends_at` of the
    monotonic clock, or within a second after `is_over` has
    become true."""
    while (remaining := ends_at - service.timer.monotonic()) > 0 and not is_over():
        await service.timer.sleep(min(_POLL_SECONDS, remaining))
        heads_now = await heads(service)
        if any(heads_now[name].position > position for name, position in positions.items()):
            return
