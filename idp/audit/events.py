"""The audit log: one event for each administrative change, in the unit of the change.

An event's `sequence` is that of the record after the change. Its payload names what changed and
contains no secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from idp.foundation import logs
from idp.foundation.randomness import Random
from idp.records import EVENTS, ORGANIZATIONS, Event
from storage import Collection, Insert, Update, Write


class Sequenced(Protocol):
    """A record that counts its administrative changes."""

    @property
    def id(self) -> str: ...

    @property
    def sequence(self) -> int: ...


def insertion(
    random: Random,
    collection: Collection[Any],
    record: Any,
    type: str,
    actor: str,
    at: datetime,
    /,
    org_id: str | None = None,
    **payload: str,
) -> list[Write]:
    """Returns the writes that store a new record and its event.

    `org_id` is the organization of a record that does not contain it.
    """
    event = created(random, collection, record, type, actor, at, org_id, **payload)
    return [Insert(collection, record), event]


def update(
    random: Random,
    collection: Collection[Any],
    record: Sequenced,
    set: Mapping[str, object],
    type: str,
    actor: str,
    at: datetime,
    org_id: str | None = None,
    **payload: str,
) -> list[Write]:
    """Returns the writes that change a record, increment its `sequence`, and store the event.

    They fail with Stale if the record was changed since it was read.
    """
    step = Update(
        collection,
        record.id,
        set=set,
        increment={"sequence": 1},
        expect={"sequence": record.sequence},
    )
    return [step, changed(random, collection, record, type, actor, at, org_id, **payload)]


def created(
    random: Random,
    collection: Collection[Any],
    record: Sequenced,
    type: str,
    actor: str,
    at: datetime,
    /,
    org_id: str | None = None,
    **payload: str,
) -> Insert:
    """Returns the write of the event for a new record."""
    return _insert(random, collection, record, 0, type, actor, at, org_id, payload)


def changed(
    random: Random,
    collection: Collection[Any],
    record: Sequenced,
    type: str,
    actor: str,
    at: datetime,
    org_id: str | None = None,
    **payload: str,
) -> Insert:
    """Returns the write of the event for a change that increments the `sequence` of `record` (as
    it was read)."""
    return _insert(random, collection, record, 1, type, actor, at, org_id, payload)


def _insert(
    random: Random,
    collection: Collection[Any],
    record: Sequenced,
    step: int,
    type: str,
    actor: str,
    at: datetime,
    org_id: str | None,
    payload: dict[str, str],
) -> Insert:
    event = Event(
        id=random.ordered_id(at),
        collection=collection.name,
        record_id=record.id,
        sequence=record.sequence + step,
        type=type,
        actor=actor,
        at=at,
        # The events of an organization itself belong to it, too.
        org_id=record.id if collection is ORGANIZATIONS else getattr(record, "org_id", org_id),
        request_id=logs.current_request_id(),
        payload=sorted(payload.items()),
    )
    return Insert(EVENTS, event)
