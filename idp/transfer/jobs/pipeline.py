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
from idp.transfer.jobs.batches import PlannedRows, ProcessedRow
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.package.rows import Row

Following = Callable[[], Coroutine[Any, Any, Sequence[Row] | None]]
# The outcomes of a stored batch's rows, which are computed while the next batch is being stored.
OutcomesFuture = asyncio.Future[list[ProcessedRow]]


class BatchWorker(Protocol):
    """An object that plans and stores one batch of rows at a time, in this process or in another
    one.
    """

    async def plan(self, rows: Sequence[Row]) -> None:
        """Plans rows of one kind: determines by the present state of the store which writes they
        need. The worker holds the plans, and the next `store` carries them out.

        Raises StorageError.
        """

    async def store(self) -> OutcomesFuture:
        """Stores the rows that were planned last; returns a future of their outcomes, which are
        computed afterwards.

        Raises StorageError: some rows may be stored then, and are recognized when they are
        processed again.
        """


class LocalBatchWorker:
    """A batch worker that does its work in this process."""

    def __init__(self, context: ImportContext) -> None:
        service = replace(context.service, random=Stocked(context.service.random))
        self._context = ImportContext(service, context.job)
        self._planned: PlannedRows | None = None

    async def plan(self, rows: Sequence[Row]) -> None:
        """Plans rows as `BatchWorker.plan` says."""
        self._planned = await job_batches.plan(self._context, rows)

    async def store(self) -> OutcomesFuture:
        """Stores the rows that were planned last, as `BatchWorker.store` says."""
        assert self._planned is not None  # noqa: S101 - planned before it is stored
        planned, self._planned = self._planned, None
        stored = await job_batches.store(self._context, planned)
        return asyncio.ensure_future(job_batches.outcomes(planned, stored))


async def processed_batches(
    workers: Sequence[BatchWorker], following: Following
) -> AsyncGenerator[OutcomesFuture, None]:
    """Plans and stores the batches that the function `following` returns one after the other,
    until it returns None; yields for each stored batch, in the same order, a future of the
    outcomes of its rows.

    A batch is stored when the caller asks for it; later batches are planned meanwhile, unless they
    may refer to unstored rows. Workers may be added to `workers` and removed at any time. Raises
    StorageError, as may the futures.
    """
    line = _Line(workers, following)
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

    worker: BatchWorker
    rows: Sequence[Row]
    planning: asyncio.Task[None]


class _Line:
    """The batches at the workers, in their order; the one after them is read meanwhile."""

    def __init__(self, workers: Sequence[BatchWorker], following: Following) -> None:
        self._workers = workers
        self._following = following
        # The next batch is read from disk while others are planned.
        self._next = asyncio.ensure_future(following())
        self._outcomes: OutcomesFuture | None = None
        self.places: deque[_PlannedBatch] = deque()

    async def first(self) -> OutcomesFuture:
        """Stores the first batch and removes it from the line.

        Its outcomes follow in the future.
        """
        await self.places[0].planning
        self._outcomes = await self.places[0].worker.store()
        self.places.popleft()
        return self._outcomes

    async def fill(self) -> None:
        """Has as many batches planned as there are free workers and as may be planned already."""
        while (worker := self._free()) is not None:
            rows = await self._next
            if rows is None or not self._may_overtake(rows):
                return
            self.places.append(
                _PlannedBatch(worker, rows, asyncio.ensure_future(worker.plan(rows)))
            )
            self._next = asyncio.ensure_future(self._following())

    async def leave(self) -> None:
        """Awaits what is in progress, and stores nothing of it."""
        in_progress: list[asyncio.Future[Any]] = [
            self._next,
            *(each.planning for each in self.places),
        ]
        if self._outcomes is not None:
            in_progress.append(self._outcomes)
        await asyncio.gather(*in_progress, return_exceptions=True)

    def _free(self) -> BatchWorker | None:
        taken = [place.worker for place in self.places]
        return next((worker for worker in self._workers if worker not in taken), None)

    def _may_overtake(self, rows: Sequence[Row]) -> bool:
        """Returns whether these rows can be planned before those in the line are stored.

        Rows of such a kind do not refer to each other, and where they conflict they are planned
        again.
        """
        if not self.places:
            return True
        kind = kinds.BY_MEMBER.get(rows[0].member)
        is_same = all(place.rows[0].member == rows[0].member for place in self.places)
        return is_same and kind is not None and kind.is_independent
