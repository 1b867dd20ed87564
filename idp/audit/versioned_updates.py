"""Changing and removing one record as an administrator does it: with its event, in its turn.

Who meets somebody at the same record looks again, and decides by what is there now; whoever said
of which state they speak (If-Match) is refused instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

from msgspec import structs

from idp.audit import events
from idp.foundation.errors import Busy, PreconditionFailed
from idp.schema import answers
from idp.schema.answers import Answer, Details
from idp.service import Service
from storage import Collection, Delete, Record, Stale, Write
from storage.settling import commit_settled

_TRIES: Final = 32  # who loses a turn has lost it to somebody who is done

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class Author(Protocol):
    """Who changes a record; `if_match` is the `sequence` that they have seen, if they say."""

    @property
    def actor(self) -> str: ...

    @property
    def if_match(self) -> int | None: ...


class Changed(Answer, frozen=True, kw_only=True):
    """What is answered when there is nothing more to tell."""

    details: Details


def _nothing(*records: Any) -> Sequence[Write]:
    return ()


async def changed(
    service: Service,
    collection: Collection[R],
    find: Callable[[], Awaitable[R]],
    decide: Callable[[R], Mapping[str, object]],
    type: str,
    author: Author,
    also: Callable[[R, R], Sequence[Write]] = _nothing,
    org_id: str | None = None,
) -> R:
    """The record as it is after the change: what `decide` sets, nothing when that is so already.

    `also` are the writes that belong into the same unit, by the record before and after;
    `org_id` is the organization of a record that does not say. Raises what `find` and `decide`
    raise, PreconditionFailed, and Busy.
    """

    async def attempt() -> R:
        before = await find()
        check_sequence(before, author)
        wanted = decide(before)
        if all(getattr(before, name) == value for name, value in wanted.items()):
            return before
        record: Any = before
        now = service.clock.now()
        values = {**wanted, **_date(record, now)}
        after: R = structs.replace(record, **values, sequence=record.sequence + 1)
        update = events.update(
            service.random, collection, record, values, type, author.actor, now, org_id
        )
        await commit_settled(service.store, *update, *also(before, after))
        return after

    return await repeated(attempt)


async def removed(
    service: Service,
    collection: Collection[R],
    find: Callable[[], Awaitable[R]],
    type: str,
    author: Author,
    org_id: str,
    also: Callable[[R], Sequence[Write]] = _nothing,
) -> Changed:
    """Remove the record that `find` finds. Raises what it raises, PreconditionFailed, and Busy.

    `org_id` is the organization that it belonged to, `also` are the writes that belong into the
    same unit.
    """

    async def attempt() -> Changed:
        record: Any = await find()
        check_sequence(record, author)
        now = service.clock.now()
        writes = removal(service, collection, record, type, author.actor, now, org_id)
        await commit_settled(service.store, *writes, *also(record))
        last = structs.replace(record, sequence=record.sequence + 1)
        details = structs.replace(answers.details(last, org_id), change_date=now)
        return Changed(details=details)

    return await repeated(attempt)


async def repeated(attempt: Callable[[], Awaitable[T]]) -> T:
    """What `attempt` comes to, once nothing changed between its look and its write.

    Raises what it raises, and Busy.
    """
    for _ in range(_TRIES):
        with suppress(Stale):
            return await attempt()
    raise Busy("too many change the same at once", retry_after_seconds=1)


def removal(
    service: Service,
    collection: Collection[Any],
    record: Any,
    type: str,
    actor: str,
    now: datetime,
    org_id: str | None = None,
) -> list[Write]:
    """The writes that remove a record: itself, as it was read, and its last event."""
    gone = Delete(collection, record.id, expect={"sequence": record.sequence})
    return [gone, events.changed(service.random, collection, record, type, actor, now, org_id)]


def check_sequence(record: Any, author: Author) -> None:
    """Refuse to change what is not what the author has seen (RFC 9110 13.1.1).

    Raises PreconditionFailed.
    """
    if author.if_match not in (None, record.sequence):
        raise PreconditionFailed(f"it has changed meanwhile, and is at {record.sequence} now")


def _date(record: Any, now: object) -> Mapping[str, object]:
    return {"changed_at": now} if hasattr(record, "changed_at") else {}
