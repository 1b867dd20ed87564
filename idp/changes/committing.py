"""The one place that commits planned changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any, Final, TypeVar

from idp.changes.change import Change, Part, Planned, Task
from idp.foundation.errors import (
    AlreadyExists,
    Busy,
    FailedPrecondition,
    NotFound,
    PreconditionFailed,
)
from idp.service import Service
from storage import Conflict, Stale, Write
from storage.confirmed_commit import commit_confirmed

ATTEMPTS: Final = 32  # at each conflict another change has succeeded
MAX_PARTS: Final = 50
# Refusals that say what is stored: no loss of a server may make them wrong.
_REFUSALS: Final = (AlreadyExists, FailedPrecondition, NotFound, PreconditionFailed)

A = TypeVar("A")
Plan = Callable[[], Awaitable[Planned[A]]]
UnitLimit = Callable[[Sequence[Write]], AbstractAsyncContextManager[None]]


def unlimited(writes: Sequence[Write]) -> AbstractAsyncContextManager[None]:
    return nullcontext()


def no_further_writes(answer: object) -> Sequence[Write]:
    return ()


async def commit(
    service: Service,
    plan: Plan[A],
    limit: UnitLimit = unlimited,
    answer_writes: Callable[[A], Sequence[Write]] = no_further_writes,
) -> A:
    """Stores the change that `plan` returns and returns its answer, once a majority of the store's
    servers has what the answer rests on.

    `plan` is called again, up to 32 times, when the unit is refused because of a concurrent
    change; and up to 50 times while it returns a `Part`. Each unit is committed inside of `limit`,
    which may refuse it. `answer_writes` returns writes that record the answer; they come first in
    the unit. Raises what `plan` and `limit` raise; the change's own error for a Conflict; Conflict
    if it concerns the record of the answer; Busy; StorageError.
    """
    return await finish(await stored(service, plan, limit, answer_writes))


async def stored(
    service: Service,
    plan: Plan[A],
    limit: UnitLimit,
    answer_writes: Callable[[A], Sequence[Write]],
) -> Change[A]:
    """Does the first part of `commit`: returns the change once it is stored, and raises the same
    errors. `finish` does the rest."""
    point = service.store.read_point()
    try:
        change = await _stored_change(service, plan, limit, answer_writes)
    except _REFUSALS:
        await service.store.confirm(point)
        raise
    if not change.writes:
        await service.store.confirm(point)
    return change


async def finish(change: Change[A]) -> A:
    """Does what follows a stored change, and returns the answer. Raises what that raises."""
    await _run_all(change.afterwards)
    return change.answer if change.then is None else await change.then()


async def run(
    service: Service, planner: Callable[..., Awaitable[Planned[A]]], *values: Any, **options: Any
) -> A:
    """Commits the change that `planner` returns for the service and these arguments. Raises what
    `commit` raises."""
    return await commit(service, partial(planner, service, *values, **options))


async def store(service: Service, *writes: Write) -> None:
    """Stores one unit whose planner repeats itself: a page that reads everything again after a
    concurrent change, or a step of deferred work. Raises Conflict, Stale, StorageError."""
    await commit_confirmed(service.store, *writes)


async def _stored_change(
    service: Service,
    plan: Plan[A],
    limit: UnitLimit,
    answer_writes: Callable[[A], Sequence[Write]],
) -> Change[A]:
    for _ in range(MAX_PARTS):
        planned = await _stored(service, plan, limit, answer_writes)
        if isinstance(planned, Change):
            return planned
        await _run_all(planned.afterwards)
    raise Busy("too many records depend on it: repeat the call", retry_after_seconds=1)


async def _stored(
    service: Service,
    plan: Plan[A],
    limit: UnitLimit,
    answer_writes: Callable[[A], Sequence[Write]],
) -> Change[A] | Part:
    for _ in range(ATTEMPTS):
        planned = await plan()
        plan = getattr(planned, "replan", None) or plan
        record = answer_writes(planned.answer) if isinstance(planned, Change) else ()
        if await _is_stored(service, planned, limit, record):
            return planned
    raise Busy("too many calls change the same record: repeat the call", retry_after_seconds=1)


async def _is_stored(
    service: Service, planned: Change[A] | Part, limit: UnitLimit, record: Sequence[Write]
) -> bool:
    """Commits the unit; returns False if it has to be planned again."""
    if not planned.writes:
        return True
    try:
        async with limit(planned.writes):
            await commit_confirmed(service.store, *record, *planned.writes)
    except Stale:
        return False
    except Conflict as conflict:
        if conflict.collection in {write.collection.name for write in record}:
            raise
        if isinstance(planned, Change) and planned.if_taken is not None:
            taken = planned.if_taken
            raise (taken(conflict) if callable(taken) else taken) from None
        return False
    return True


async def _run_all(tasks: Sequence[Task]) -> None:
    for task in tasks:
        work = task()
        if work is not None:
            await work
