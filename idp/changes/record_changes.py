"""The writes that change one record, together with those of its audit event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct, structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes.change import Author, Change, Task
from idp.foundation.errors import PreconditionFailed
from idp.schema import answers
from idp.schema.answers import Changed, Details
from idp.service import Service
from storage import Collection, Record, Write

A = TypeVar("A")
R = TypeVar("R", bound=Record)


class RecordChange(Struct, Generic[R], frozen=True):
    """An update or a removal of one record: the record after it, the writes that make it, and the
    record's version then. There are no writes if the record has the values already."""

    record: R
    writes: Sequence[Write]
    details: Details

    def change(self, *extra_writes: Write, afterwards: Sequence[Task] = ()) -> Change[Changed]:
        """Returns the change that is answered with the record's version. The extra writes and the
        tasks belong to it: they are left out if the record does not change."""
        return self.answered(Changed(details=self.details), *extra_writes, afterwards=afterwards)

    def answered(
        self, answer: A, *extra_writes: Write, afterwards: Sequence[Task] = ()
    ) -> Change[A]:
        """Returns the change with another answer; the rest is as in `change`."""
        if not self.writes:
            return Change(answer)
        return Change(answer, [*self.writes, *extra_writes], afterwards)


def created(
    service: Service,
    author: Author,
    collection: Collection[Any],
    record: Any,
    event_type: str,
    payload: Mapping[str, str] = {},
    org_id: str | None = None,
) -> list[Write]:
    """Returns the writes that store a new record and its event. `org_id` is the organization of a
    record that does not contain it."""
    entry = AuditEntry(event_type, author.actor, record.created_at, org_id, payload)
    return events.insertion(service.random, collection, record, entry)


def updated(
    service: Service,
    author: Author,
    collection: Collection[R],
    record: R,
    values: Mapping[str, object],
    event_type: str,
    org_id: str | None = None,
    payload: Mapping[str, str] = {},
) -> RecordChange[R]:
    """Returns the update that sets `values` of a record, with an event of this type; no writes if
    the record has these values. `org_id` is the organization of a record that does not contain
    it.

    Raises PreconditionFailed if the author expects another version of the record.
    """
    check_version(record, author)
    stored: Any = record
    owner: Any = org_id or getattr(stored, "org_id", "")
    if all(getattr(record, name) == value for name, value in values.items()):
        return RecordChange(record, (), answers.details(stored, owner))
    now = service.clock.now()
    if hasattr(record, "changed_at"):
        values = {**values, "changed_at": now}
    entry = AuditEntry(event_type, author.actor, now, org_id, payload)
    writes = events.update(service.random, collection, stored, values, entry)
    after = structs.replace(stored, **values, sequence=stored.sequence + 1)
    return RecordChange(after, writes, answers.details(after, owner))


def removed(
    service: Service,
    author: Author,
    collection: Collection[R],
    record: R,
    event_type: str,
    org_id: str | None = None,
) -> RecordChange[R]:
    """Returns the removal of a record, with an event of this type. `org_id` is the organization of
    a record that does not contain it.

    Raises PreconditionFailed if the author expects another version of the record.
    """
    check_version(record, author)
    stored: Any = record
    now = service.clock.now()
    entry = AuditEntry(event_type, author.actor, now, org_id)
    last = structs.replace(stored, sequence=stored.sequence + 1)
    details = structs.replace(answers.details(last, org_id or stored.org_id), change_date=now)
    writes = events.removal(service.random, collection, stored, entry)
    return RecordChange(last, writes, details)


def check_version(record: Any, author: Author) -> None:
    """Raises PreconditionFailed if the author expects another `sequence` than the record has
    (If-Match, RFC 9110 13.1.1)."""
    if author.if_match not in (None, record.sequence):
        version = f'its version is {record.sequence} now (ETag "{record.sequence}")'
        raise PreconditionFailed(f"it has changed meanwhile: {version}")
