"""The audit log: one event for each administrative change, in the unit of the change.

An event's `sequence` is that of the record after the change, and 0 if nothing was changed. Its
payload names what changed and contains no secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct

from idp.foundation import logs
from idp.foundation.randomness import Random
from idp.records import EVENTS, ORGANIZATIONS, Event
from storage import Collection, Delete, Insert, Update, Write


class Sequenced(Protocol):
    """A record that counts its administrative changes."""

    @property
    def id(self) -> str: ...

    @property
    def sequence(self) -> int: ...


class AuditEntry(Struct, frozen=True):
    """The content of an event: its type, who made the change (`actor`, an id) and when, and its
    payload.

    `org_id` is the organization of a record that does not contain it.
    """

    type: str
    actor: str
    at: datetime
    org_id: str | None = None
    payload: Mapping[str, str] = {}


def insertion(
    random: Random, collection: Collection[Any], record: Any, entry: AuditEntry
) -> list[Write]:
    """Returns the writes that store a new record and its event, for the caller to commit in one
    unit."""
    return [Insert(collection, record), created(random, collection, record, entry)]


def update(
    random: Random,
    collection: Collection[Any],
    record: Sequenced,
    changes: Mapping[str, object],
    entry: AuditEntry,
) -> list[Write]:
    """Returns the writes that set the fields `changes` of a record, increment its `sequence`, and
    store the event, for the caller to commit in one unit.

    They fail with Stale if the record was changed since it was read.
    """
    record_update = Update(
        collection,
        record.id,
        set=changes,
        increment={"sequence": 1},
        expect={"sequence": record.sequence},
    )
    return [record_update, changed(random, collection, record, entry)]


def removal(
    random: Random, collection: Collection[Any], record: Sequenced, entry: AuditEntry
) -> list[Write]:
    """Returns the writes that delete a record and store its last event, for the caller to commit
    in one unit. They fail with Stale if the record was changed since it was read."""
    deletion = Delete(collection, record.id, expect={"sequence": record.sequence})
    return [deletion, changed(random, collection, record, entry)]


def created(
    random: Random, collection: Collection[Any], record: Sequenced, entry: AuditEntry
) -> Insert:
    """Returns the write of the event alone for a new record, which the caller inserts in the same
    unit."""
    return Insert(EVENTS, _event(random, collection, record, record.sequence, entry))


def changed(
    random: Random, collection: Collection[Any], record: Sequenced, entry: AuditEntry
) -> Insert:
    """Returns the write of the event alone for a change of `record` (as it was read), which the
    caller makes in the same unit; that must increment the `sequence`."""
    return Insert(EVENTS, _event(random, collection, record, record.sequence + 1, entry))


def occurred(
    random: Random, collection: Collection[Any], record: Sequenced, entry: AuditEntry
) -> Insert:
    """Returns the write of an event about a record that does not change it: its `sequence` is 0,
    and that of the record stays as it is."""
    return Insert(EVENTS, event(random, collection, record, entry))


def event(
    random: Random, collection: Collection[Any], record: Sequenced, entry: AuditEntry
) -> Event:
    """Returns the event that `occurred` stores."""
    return _event(random, collection, record, 0, entry)


def _event(
    random: Random,
    collection: Collection[Any],
    record: Sequenced,
    sequence: int,
    entry: AuditEntry,
) -> Event:
    # The events of an organization itself belong to it, too.
    org_id = record.id if collection is ORGANIZATIONS else getattr(record, "org_id", entry.org_id)
    return Event(
        id=random.ordered_id(entry.at),
        collection=collection.name,
        record_id=record.id,
        sequence=sequence,
        type=entry.type,
        actor=entry.actor,
        at=entry.at,
        org_id=org_id,
        request_id=logs.current_request_id(),
        payload=sorted(entry.payload.items()),
    )
