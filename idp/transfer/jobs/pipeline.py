"""The pipeline of a package's batches: several are planned concurrently, one is stored at a time.

Batches are stored in the package's order, however many are being planned, so one position
describes what is done.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from idp.foundation.randomness import Stocked
from idp.transfer import kinds
from idp.transfer.jobs import batches as job_batches
from idp.transfer.jobs.batches import PlannedRows, Settled
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.package.rows import Row

Following = Callable[[], Coroutine[Any, Any, Sequence[Row] | None]]
# The outcomes of a stored batch's rows, which are computed while the next batch is being stored.
OutcomesFuture = asyncio.Future[list[Settled]]


class BatchWorker(Protocol):
    """Works on one batch at a time, in this process or in another one."""

    async def judge(self, rows: Sequence[Row]) -> None:
        """Plans rows of one kind by what is stored. Raises StorageError."""

    async def store(self) -> OutcomesFuture:
        """Stores the rows planned last.

        Raises StorageError: some rows may be stored then, and are recognized when they are
        processed again.
        """


class LocalBatchWorker:
    """A worker in this process."""

    def __init__(self, taking: ImportContext) -> None:
        service = replace(taking.service, random=Stocked(taking.service.random))
        self._taking = ImportContext(service, taking.job)
        self._judged: PlannedRows | None = None

    async def judge(self, rows: Sequence[Row]) -> None:
        """Plans rows as `BatchWorker.judge` does."""
        self._judged = await job_batches.judge(self._taking, rows)

    async def store(self) -> OutcomesFuture:
        """Stores rows as `BatchWorker.store` does."""
        assert self._judged is not None  # noqa: S101 - planned before it is stored
        judged, self._judged = self._judged, None
        stored = await job_batches.store(self._taking, judged)
        return asyncio.ensure_future(job_batches.told(judged, stored))


async def settled(
    desks: Sequence[BatchWorker], following: Following
) -> AsyncGenerator[OutcomesFuture, None]:
    """Yields the outcomes of each batch that `following` returns, until it returns None.

    A batch is stored when the caller asks for it; the batches after it are planned meanwhile,
    where they may be. Workers may be added to `desks` and removed at any time. Raises
    StorageError, as may the futures.
    """
    line = _Line(desks, following)
    try:
        await line.fill()
        while line.places:
            done = await line.first()
            await line.fill()
            yield done
    finally:
        await line.leave()


class _PlannedBatch(NamedTuple):
    """A batch that is being planned or is planned, and its worker."""

    desk: BatchWorker
    rows: Sequence[Row]
    judging: asyncio.Task[None]


class _Line:
    """The batches at the workers, in their order; the one after them is read meanwhile."""

    def __init__(self, desks: Sequence[BatchWorker], following: Following) -> None:
        self._desks = desks
        self._following = following
        # The next batch is read from disk while others are planned.
        self._next = asyncio.ensure_future(following())
        self._telling: OutcomesFuture | None = None
        self.places: deque[_PlannedBatch] = deque()

    async def first(self) -> OutcomesFuture:
        """Stores the first batch and removes it from the line.

        Its outcomes follow in the future.
        """
        await self.places[0].judging
        self._telling = await self.places[0].desk.store()
        self.places.popleft()
        return self._telling

    async def fill(self) -> None:
        """Has as many batches planned as there are free workers and as may be planned already."""
        while (desk := self._free()) is not None:
            rows = await self._next
            if rows is None or not self._may_overtake(rows):
                return
            self.places.append(_PlannedBatch(desk, rows, asyncio.ensure_future(desk.judge(rows))))
            self._next = asyncio.ensure_future(self._following())

    async def leave(self) -> None:
        """Awaits what is in progress, and stores nothing of it."""
        going: list[asyncio.Future[Any]] = [self._next, *(each.judging for each in self.places)]
        if self._telling is not None:
            going.append(self._telling)
        await asyncio.gather(*going, return_exceptions=True)

    def _free(self) -> BatchWorker | None:
        taken = [place.desk for place in self.places]
        return next((desk for desk in self._desks if desk not in taken), None)

    def _may_overtake(self, rows: Sequence[Row]) -> bool:
        """Returns whether these rows can be planned before those in the line are stored.

        Rows of such a kind do not refer to each other, and where they conflict they are planned
        again.
        """
        if not self.places:
            return True
        kind = kinds.BY_MEMBER.get(rows[0].member)
        is_same = all(place.rows[0].member == rows[0].member for place in self.places)
        return is_same and kind is not None and kind.stands_alone
