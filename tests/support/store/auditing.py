"""Events of the audit log: stored at once for a test, and read as they are sealed."""

from __future__ import annotations

from datetime import timedelta

from idp.audit.event_types import stream_of
from idp.records import EVENTS, Event
from storage import Insert


def new_event(service, type: str, earlier=timedelta(), **fields) -> Event:
    at = service.clock.now() - earlier
    return Event(
        id=service.random.ordered_id(at),
        collection="users",
        record_id=fields.pop("record_id", "ada"),
        sequence=0,
        type=type,
        actor="ada",
        at=at,
        **fields,
    )


async def store_events(service, n: int, type: str, **fields) -> list[Event]:
    """Stores `n` events of this type, each in a unit of its own; in the order of their ids."""
    events = [new_event(service, type, **fields) for _ in range(n)]
    outcomes = await service.store.commit_each([[Insert(EVENTS, each)] for each in events])
    assert not any(outcomes)
    return sorted(events, key=lambda event: event.id)


async def events_in(service, stream: str) -> list[Event]:
    """The sealed events of these types, in the order of their ids."""
    found = [each async for each in service.store.scan(EVENTS) if stream_of(each.type) == stream]
    return [each for each in found if each.position is not None]


async def sealed_in(service, stream: str) -> list[Event]:
    """The sealed events of a stream, in the order of their positions."""
    return sorted(await events_in(service, stream), key=lambda event: event.position)
