"""Removal of old events from the beginning of each stream.

Only sealed events are removed, in the order of their positions, up to the first that is not old
enough; the time of an event counts if the chain shows that it was not changed. Each unit moves the
stream's *floor*, the last removed position, with the chain's value there: so the chain of what is
left still holds. That events are removed is an event itself, in the unit of the first ones.
"""

from __future__ import annotations

import asyncio
import time
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
TURN_SECONDS: Final = 50.0  # of each minute
_AT_ONCE: Final = 500
_LAST_ID: Final = chr(0x10FFFF)

_log = logs.logger(__name__)


def days_by_stream(config: Config) -> Mapping[EventStream, int]:
    """Returns for how many days the events of each stream are stored; 0: for ever."""
    return {
        "change": config.audit_change_days,
        "access": config.audit_access_days,
        "failure": config.audit_failure_days,
    }


def begins_at(
    heads: Mapping[EventStream, AuditHead], days: Mapping[EventStream, int], now: datetime
) -> datetime | None:
    """Returns the instant from which on events are removed, as long as it is to come; None if
    removal has begun, nothing was sealed yet, or `days` says that all events stay."""
    instants = [head.removable_from for name, head in heads.items() if days[name]]
    latest = max((each for each in instants if each is not None), default=now)
    return latest if latest > now else None


async def report(service: Service, installed_at: datetime) -> None:
    """Logs after how many days events are removed, and from when on, unless the installation is
    new. Raises StorageError."""
    now = service.clock.now()
    found = (await event_streams.heads(service)).values()
    is_begun = any(head.position for head in found)
    if not is_begun and installed_at > now - sealing.NEW:
        return
    # Events of the version before are sealed soon after the start.
    since = max(head.removable_from or now + sealing.GRACE for head in found)
    _log.info(
        "old events are removed from the audit log",
        since=max(since, now).isoformat(timespec="seconds"),
        **{f"{name}_days": days for name, days in days_by_stream(service.config).items()},
    )


async def remove_old(service: Service) -> None:
    """Removes old events of all streams, for at most 50 seconds. Raises ChainLost, WrongKey,
    StorageError."""
    state = await sealing.read_state(service)
    if state is None:
        return
    ends_at, now = time.monotonic() + TURN_SECONDS, service.clock.now()
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
    stored = await service.store.get(AUDIT_FLOORS, head.id)
    if stored is not None and stored.floor > head.floor:  # another process is removing them
        return
    while time.monotonic() < ends_at:
        began_at = time.monotonic()
        old = await _old(service, key, head, cutoff)
        if not old:
            return
        moved = _moved(key, head, old[-1], cutoff)
        floor = heads.floor_of(moved)
        writes = [_floor_write(stored, floor), *_removals(service, head, moved, old)]
        try:
            await service.store.commit(*writes)
        except (Stale, Conflict):  # another process has removed them
            return
        head, stored = moved, floor
        # Half of the time is left to requests.
        await asyncio.sleep(time.monotonic() - began_at)


async def _old(service: Service, key: bytes, head: AuditHead, cutoff: datetime) -> Sequence[Event]:
    """Returns the first events of the stream, as far as they are older than `cutoff`."""
    page = await service.store.find(
        EVENTS,
        {"stream": head.id},
        order="position",
        after=(head.floor, _LAST_ID),
        limit=_AT_ONCE,
    )
    old, changed = _true_and_old(key, head, page.records, cutoff)
    if changed is not None:
        _log.error("an event was changed", stream=head.id, position=changed.position)
    return old


def _true_and_old(
    key: bytes, head: AuditHead, events: Sequence[Event], cutoff: datetime
) -> tuple[Sequence[Event], Event | None]:
    """Returns the events up to the last that is older than `cutoff` and as it was sealed, and the
    first before a younger one that is not as it was sealed.

    The time of a changed event says nothing: otherwise a program that changes the database could
    have the service remove the events of today. A changed event is removed with a later one that
    is true and old, since it was sealed before that.
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


def _moved(key: bytes, head: AuditHead, last: Event, cutoff: datetime) -> AuditHead:
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
    service: Service, head: AuditHead, moved: AuditHead, events: Sequence[Event]
) -> list[Write]:
    writes: list[Write] = [Delete(EVENTS, event.id) for event in events]
    if moved.removes_before != head.removes_before:
        writes.append(Insert(EVENTS, _event(service, moved, events[0])))
    return writes


def _floor_write(stored: AuditFloor | None, floor: AuditFloor) -> Write:
    if stored is None:
        return Insert(AUDIT_FLOORS, floor)
    fields = structs.asdict(floor)
    fields.pop("id")
    return Update(AUDIT_FLOORS, floor.id, set=fields, expect={"floor": stored.floor})


def _event(service: Service, moved: AuditHead, first: Event) -> Event:
    """The event that says which events are removed."""
    now, before = service.clock.now(), moved.removes_before
    payload = {
        "stream": moved.id,
        "fromPosition": str(first.position),
        "before": f"{before:%Y-%m-%dT%H:%M:%SZ}",
    }
    return Event(
        id=service.random.ordered_id(now),
        collection=AUDIT_HEADS.name,
        record_id=moved.id,
        sequence=0,
        type=REMOVED,
        actor=ACTOR,
        at=now,
        payload=sorted(payload.items()),
    )
