"""Removal of old events from the beginning of each stream.

Only sealed events are removed, in the order of their positions, up to the first that is not old
enough. The time of an event is trusted only if the chain shows that the event was not changed.
Each unit moves the stream's *floor*, the last removed position, with the chain's value there, so
that the chain of the remaining events can still be verified. An event records each removal, in the
unit that removes the first events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import structs

from idp.audit import chain, event_streams, heads, sealing
from idp.config.settings import Config
from idp.foundation import logs
from idp.records import (
    AUDIT_FLOORS,
    AUDIT_HEADS,
    EVENTS,
    AuditFloor,
    AuditHead,
    Event,
    EventStream,
)
from idp.service import Service
from storage import Conflict, Delete, Insert, Stale, Update, Write

ACTOR: Final = "retention"
REMOVED: Final = "audit.events_removed"
MAX_RUN_SECONDS: Final = 50.0  # of each minute
_PAGE_SIZE: Final = 500
_LAST_ID: Final = chr(0x10FFFF)

_log = logs.logger(__name__)


def days_by_stream(config: Config) -> Mapping[EventStream, int]:
    """Returns for how many days the events of each stream are stored, 0 for no limit."""
    return {
        "change": config.audit_change_days,
        "access": config.audit_access_days,
        "failure": config.audit_failure_days,
    }


def removal_begins_at(
    heads: Mapping[EventStream, AuditHead], days: Mapping[EventStream, int], now: datetime
) -> datetime | None:
    """Returns the instant at which the removal of events begins, if it is in the future; None if
    it has begun, nothing was sealed yet, or `days` has no limit for any stream."""
    instants = [head.removable_from for name, head in heads.items() if days[name]]
    latest = max((each for each in instants if each is not None), default=now)
    return latest if latest > now else None


async def report(service: Service, installed_at: datetime) -> None:
    """Logs after how many days events are removed, and when that begins, unless the installation
    is new. Raises StorageError."""
    now = service.clock.now()
    stream_heads = (await event_streams.heads(service)).values()
    has_sealed_events = any(head.position for head in stream_heads)
    if not has_sealed_events and installed_at > now - sealing.NEW:
        return
    # Events of the previous version are sealed soon after the start.
    begins_at = max(head.removable_from or now + sealing.GRACE for head in stream_heads)
    _log.info(
        "old events are removed from the audit log",
        since=max(begins_at, now).isoformat(timespec="seconds"),
        **{f"{name}_days": days for name, days in days_by_stream(service.config).items()},
    )


async def remove_old(service: Service) -> None:
    """Removes old events of all streams, for at most 50 seconds. Raises ChainLost, WrongKey,
    StorageError."""
    state = await sealing.read_state(service)
    if state is None:
        return
    ends_at, now = service.timer.monotonic() + MAX_RUN_SECONDS, service.clock.now()
    for name, days in days_by_stream(service.config).items():
        head = state.heads[name]
        if days and (head.removable_from or now) <= now:
            await _remove(service, state.key, head, _cutoff(now, days), ends_at)


def _cutoff(now: datetime, days: int) -> datetime:
    """The instant before which events are removed: a full hour, so that there is at most one event
    about it in an hour."""
    before = now - timedelta(days=days)
    return before.replace(minute=0, second=0, microsecond=0)


async def _remove(
    service: Service, key: bytes, head: AuditHead, cutoff: datetime, ends_at: float
) -> None:
    stored_floor = await service.store.get(AUDIT_FLOORS, head.id)
    if stored_floor is not None and stored_floor.floor > head.floor:
        return  # another process is removing them
    while service.timer.monotonic() < ends_at:
        began_at = service.timer.monotonic()
        old = await _read_removable(service, key, head, cutoff)
        if not old:
            return
        new_head = _head_after(key, head, old[-1], cutoff)
        new_floor = heads.floor_of(new_head)
        writes = [_floor_write(stored_floor, new_floor), *_removals(service, head, new_head, old)]
        try:
            await service.store.commit(*writes)
        except (Stale, Conflict):  # another process has removed them
            return
        head, stored_floor = new_head, new_floor
        # Half of the time is left to requests.
        await service.timer.sleep(service.timer.monotonic() - began_at)


async def _read_removable(
    service: Service, key: bytes, head: AuditHead, cutoff: datetime
) -> Sequence[Event]:
    """Returns the first events of the stream, as far as they are older than `cutoff`."""
    page = await service.store.find(
        EVENTS,
        {"stream": head.id},
        order="position",
        after=(head.floor, _LAST_ID),
        limit=_PAGE_SIZE,
    )
    old, changed = _removable(key, head, page.records, cutoff)
    if changed is not None:
        _log.error("an event was changed", stream=head.id, position=changed.position)
    return old


def _removable(
    key: bytes, head: AuditHead, events: Sequence[Event], cutoff: datetime
) -> tuple[Sequence[Event], Event | None]:
    """Returns the events up to the last one that is older than `cutoff` and unchanged since it was
    sealed, and the first changed event that precedes a younger one, or None.

    The time of a changed event is not trusted: otherwise a program that changes the database could
    have the service remove today's events. A changed event is removed with a later one that
    is unchanged and old, since it was sealed before that one.
    """
    before, end, changed = head.floor_chain, 0, None
    for number, event in enumerate(events, 1):
        if event.chain != chain.value(key, before, event):
            changed = changed or event
        elif event.at >= cutoff:
            break
        else:
            end = number
        before = event.chain or ""
    return events[:end], changed


def _head_after(key: bytes, head: AuditHead, last: Event, cutoff: datetime) -> AuditHead:
    """The head after the removal of the events up to `last`."""
    position, value = last.position or 0, last.chain or ""
    return AuditHead(
        id=head.id,
        floor=position,
        floor_chain=value,
        floor_mac=chain.floor_mac(key, head.id, position, value),
        removes_before=max(cutoff, head.removes_before or cutoff),
    )


def _removals(
    service: Service, head: AuditHead, new_head: AuditHead, events: Sequence[Event]
) -> list[Write]:
    writes: list[Write] = [Delete(EVENTS, event.id) for event in events]
    if new_head.removes_before != head.removes_before:
        writes.append(Insert(EVENTS, _event(service, new_head, events[0])))
    return writes


def _floor_write(stored_floor: AuditFloor | None, new_floor: AuditFloor) -> Write:
    if stored_floor is None:
        return Insert(AUDIT_FLOORS, new_floor)
    fields = structs.asdict(new_floor)
    fields.pop("id")
    return Update(AUDIT_FLOORS, new_floor.id, set=fields, expect={"floor": stored_floor.floor})


def _event(service: Service, new_head: AuditHead, first: Event) -> Event:
    """The event that records the removal."""
    now, before = service.clock.now(), new_head.removes_before
    payload = {
        "stream": new_head.id,
        "fromPosition": str(first.position),
        "before": f"{before:%Y-%m-%dT%H:%M:%SZ}",
    }
    return Event(
        id=service.random.ordered_id(now),
        collection=AUDIT_HEADS.name,
        record_id=new_head.id,
        sequence=0,
        type=REMOVED,
        actor=ACTOR,
        at=now,
        payload=sorted(payload.items()),
    )
