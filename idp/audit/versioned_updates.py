"""Compare-and-swap updates and removals of one record, stored in one unit with their audit event.

If the record was changed concurrently, it is read again and the change is made to its new state;
if the caller has named the expected state (If-Match), the call is refused instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar

from msgspec import structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.foundation.errors import Busy, PreconditionFailed
from idp.schema import answers
from idp.schema.answers import Changed
from idp.service import Service
from storage import Collection, Record, Stale, Write
from storage.confirmed_commit import commit_confirmed

_ATTEMPTS: Final = 32  # at each conflict another change has succeeded

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class Author(Protocol):
    """The user who changes a record; `if_match` is the expected `sequence`, if the request states
    one."""

    @property
    def actor(self) -> str: ...

    @property
    def if_match(self) -> int | None: ...


def _no_writes(*records: Any) -> Sequence[Write]:
    return ()


async def changed(
    service: Service,
    collection: Collection[R],
    find: Callable[[], Awaitable[R]],
    decide: Callable[[R], Mapping[str, object]],
    type: str,
    author: Author,
    further_writes: Callable[[R, R], Sequence[Write]] = _no_writes,
    org_id: str | None = None,
) -> R:
    """Sets the fields that `decide` returns for the record that `find` returns, with an event of
    this `type`, and returns the record after the change. Nothing is written if the record has
    these values already.

    `find` and `decide` are called again if the record was changed concurrently. `further_writes`
    returns further writes of the same unit, from the record before and after; `org_id` is the
    organization of a record that does not contain it. Raises what `find` and `decide` raise;
    PreconditionFailed if the author expects another `sequence`; Busy.
    """

    async def attempt() -> R:
        before = await find()
        check_sequence(before, author)
        values_to_set = decide(before)
        if all(getattr(before, name) == value for name, value in values_to_set.items()):
            return before
        record: Any = before
        now = service.clock.now()
        values = {**values_to_set, **_date(record, now)}
        after: R = structs.replace(record, **values, sequence=record.sequence + 1)
        update = events.update(
            service.random, collection, record, values, AuditEntry(type, author.actor, now, org_id)
        )
        await commit_confirmed(service.store, *update, *further_writes(before, after))
        return after

    return await repeated(attempt)


async def removed(
    service: Service,
    collection: Collection[R],
    find: Callable[[], Awaitable[R]],
    type: str,
    author: Author,
    org_id: str,
    further_writes: Callable[[R], Sequence[Write]] = _no_writes,
) -> Changed:
    """Removes the record that `find` returns, with an event of this `type`, and returns the answer
    of the call.

    `find` is called again if the record was changed concurrently. `org_id` is the organization of
    the record; `further_writes` returns further writes of the same unit. Raises what `find`
    raises; PreconditionFailed if the author expects another `sequence`; Busy.
    """

    async def attempt() -> Changed:
        record: Any = await find()
        check_sequence(record, author)
        now = service.clock.now()
        writes = events.removal(
            service.random, collection, record, AuditEntry(type, author.actor, now, org_id)
        )
        await commit_confirmed(service.store, *writes, *further_writes(record))
        removed_record = structs.replace(record, sequence=record.sequence + 1)
        details = structs.replace(answers.details(removed_record, org_id), change_date=now)
        return Changed(details=details)

    return await repeated(attempt)


async def repeated(attempt: Callable[[], Awaitable[T]]) -> T:
    """Returns the result of `attempt`, which is called again, up to 32 times, while it raises
    Stale because of concurrent changes.

    Raises any other error of `attempt`, and Busy.
    """
    for _ in range(_ATTEMPTS):
        with suppress(Stale):
            return await attempt()
    raise Busy("too many calls change the same record: repeat the call", retry_after_seconds=1)


def check_sequence(record: Any, author: Author) -> None:
    """Raises PreconditionFailed if the author expects another `sequence` than the record has
    (If-Match, RFC 9110 13.1.1)."""
    if author.if_match not in (None, record.sequence):
        raise PreconditionFailed(f"it has changed meanwhile, and is at {record.sequence} now")


def _date(record: Any, now: object) -> Mapping[str, object]:
    return {"changed_at": now} if hasattr(record, "changed_at") else {}
