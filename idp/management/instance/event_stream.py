"""The stream of sealed events, for programs that collect all of them, such as a SIEM."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Annotated, Final, NamedTuple

from idp.audit import event_streams
from idp.audit.event_streams import EventBatch, EventFilter, Positions
from idp.audit.event_types import OBJECTS, STREAMS, TYPES, object_of
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.instance import events as instance_events
from idp.management.instance.events import EventView
from idp.records import INSTANCES, Event, EventStream
from idp.schema.answers import Answer
from idp.schema.field_rules import Integer, Text
from idp.schema.reading import Request
from idp.service import Service

MAX_LIMIT: Final = 1000
MAX_WAIT_SECONDS: Final = 30
OLDEST: Final = "oldest"
LATEST: Final = "latest"
_MAX_CURSOR: Final = 500
_ALL_OF: Final = ".*"


class EventStreamQuery(Request, frozen=True, kw_only=True):
    """Sealed events after a cursor, in the order of their positions.

    `cursor` is that of the last event that was received, `oldest` or `latest`. `stream` names
    `change`, `access` or `failure`, several with commas between them; without it, it is all, or
    those of the cursor. `types` are names such as `user.created` or `user.*`, with commas between
    them. With `wait`, the answer comes when there are events, or after so many seconds.
    """

    cursor: Annotated[str, Text(max=_MAX_CURSOR)] = OLDEST
    stream: Annotated[str, Text()] = ""
    types: Annotated[str, Text()] = ""
    limit: Annotated[int, Integer(1, MAX_LIMIT)] = 100
    wait: Annotated[int, Integer(0, MAX_WAIT_SECONDS)] = 0


class StreamedEvent(EventView, frozen=True, kw_only=True):
    """An event of a stream. `cursor` is the place after it; `position` is its number in the
    stream, which only readers of all events receive."""

    stream: str
    position: str = ""
    cursor: str


class StreamedEvents(Answer, frozen=True, kw_only=True):
    """The next events of the streams. `next_cursor` is the place after all that was read, also if
    there are none."""

    events: list[StreamedEvent] = []
    next_cursor: str


class EventReader(NamedTuple):
    """The filter of the events to read, the positions to read from, the greatest number of events
    in a batch, and the id of the user who reads."""

    filter: EventFilter
    positions: Positions
    limit: int
    caller: str


class Waiting(NamedTuple):
    """The conditions of a reader's wait: until `ends_at` of the monotonic clock, or until
    `is_over`, and each time within the context `idle`. `confirm` is called before events that
    arrived meanwhile are returned; it raises if the reader may no longer have them."""

    ends_at: float
    is_over: Callable[[], bool]
    idle: Callable[[], AbstractAsyncContextManager[None]]
    confirm: Callable[[], Awaitable[None]]


async def stream(service: Service, call: Call, request: EventStreamQuery) -> StreamedEvents:
    """Returns the next sealed events: of all organizations for a caller whose permission applies
    everywhere, otherwise those of the call's organization.

    Raises InvalidArgument, CursorUnknown, CursorTooOld, PermissionDenied, NotFound (the
    organization), Busy.
    """

    async def confirm() -> None:
        pass

    reader = await open_reader(service, call, request)
    ends_at = service.timer.monotonic() + request.wait
    waiting = Waiting(ends_at, lambda: False, nullcontext, confirm)
    return await view(service, reader, await next_batch(service, reader, waiting))


async def open_reader(service: Service, call: Call, request: EventStreamQuery) -> EventReader:
    """Returns the reader for the call. Raises InvalidArgument, CursorUnknown, PermissionDenied,
    NotFound."""
    org_id = None
    if call.org_id is not None or not call.is_by_instance:
        org_id = (await management_call.organization(service, call)).id
    streams, types = _streams(request.stream), _types(request.types)
    positions = await _positions(service, request.cursor, streams)

    def matches(event: Event) -> bool:
        # The installation's own record belongs to an organization, whose managers may not read it.
        if org_id is not None and event.collection == INSTANCES.name:
            return False
        return not types or event.type in types or object_of(event.type) + _ALL_OF in types

    selected_streams = tuple(name for name in STREAMS if name in positions)
    event_filter = EventFilter(selected_streams, org_id, matches)
    return EventReader(event_filter, positions, request.limit, call.actor)


def _streams(text: str) -> tuple[EventStream, ...]:
    """Returns the streams that are named; none if the parameter is absent."""
    names = [name.strip() for name in text.split(",")] if text else []
    if not set(names) <= set(STREAMS):
        message = f"is not one of {', '.join(STREAMS)}"
        raise InvalidArgument([FieldProblem("events.stream_unknown", "stream", message)])
    return tuple(name for name in STREAMS if name in names)


def _types(text: str) -> frozenset[str]:
    names = frozenset(name.strip() for name in text.split(",")) if text else frozenset()
    existing = TYPES.keys() | {name + _ALL_OF for name in OBJECTS}
    if names - existing:
        message = "contains an unknown type of events"
        raise InvalidArgument([FieldProblem("events.type_unknown", "types", message)])
    return names


async def _positions(service: Service, cursor: str, streams: tuple[EventStream, ...]) -> Positions:
    if cursor == OLDEST:
        return await event_streams.oldest(service, streams or STREAMS)
    if cursor == LATEST:
        return await event_streams.latest(service, streams or STREAMS)
    positions = event_streams.decode(service.master_key, cursor)
    if streams and set(streams) != positions.keys():
        raise event_streams.unknown_cursor("was made for other streams")
    return positions


async def next_batch(service: Service, reader: EventReader, waiting: Waiting) -> EventBatch:
    """Returns the next events; if there are none, waits for them, as one of the readers whose
    number is limited. Raises CursorUnknown, CursorTooOld, Busy, TooMany, and what `confirm`
    raises."""
    batch = await _read(service, reader, reader.positions)
    if batch.events or not batch.is_end or service.timer.monotonic() >= waiting.ends_at:
        return batch
    with service.waiting_readers.waiting(reader.filter.org_id, reader.caller):
        return await await_batch(service, reader, waiting)


async def await_batch(service: Service, reader: EventReader, waiting: Waiting) -> EventBatch:
    """Returns the next events, or none when the wait has ended. Raises CursorUnknown,
    CursorTooOld, and what `confirm` raises."""
    positions = reader.positions
    while True:
        # Before the read, so that events that are sealed after it are not missed.
        sealed_positions = await event_streams.latest(service, reader.filter.streams)
        batch = await _read(service, reader, positions)
        if batch.events or service.timer.monotonic() >= waiting.ends_at or waiting.is_over():
            break
        positions = batch.positions
        if batch.is_end:
            async with waiting.idle():
                await event_streams.wait(
                    service, sealed_positions, waiting.ends_at, waiting.is_over
                )
    await waiting.confirm()
    return batch


async def _read(service: Service, reader: EventReader, positions: Positions) -> EventBatch:
    return await event_streams.read(service, reader.filter, positions, reader.limit)


async def view(service: Service, reader: EventReader, batch: EventBatch) -> StreamedEvents:
    """Returns the events of a batch with the names of their users, and their cursors."""
    org_id = reader.filter.org_id
    views = await instance_events.views(service, [event for event, _ in batch.events], org_id)
    key = service.master_key
    return StreamedEvents(
        events=[
            _streamed(view, event, event_streams.encode(key, positions), org_id is None)
            for view, (event, positions) in zip(views, batch.events, strict=True)
        ],
        next_cursor=event_streams.encode(key, batch.positions),
    )


def _streamed(view: EventView, event: Event, cursor: str, has_position: bool) -> StreamedEvent:
    return StreamedEvent(
        **{name: getattr(view, name) for name in view.__struct_fields__},
        stream=event.stream or "",
        position=str(event.position) if has_position else "",
        cursor=cursor,
    )


def continued(reader: EventReader, batch: EventBatch) -> EventReader:
    """Returns the reader that continues after a batch."""
    return reader._replace(positions=batch.positions)
