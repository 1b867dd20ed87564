"""The pipeline of a package's batches: several are planned concurrently, one is stored at a time.

Batches are stored in the package's order, however many are being planned, so one position
describes the progress.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from idp.foundation.randomness import BufferedRandom
from idp.transfer import kinds
from idp.transfer.jobs import batches as job_batches
from idp.transfer.jobs.batches import PlannedRows, ProcessedRow
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.package.rows import Row

# Returns the rows of the next batch; None after the last one.
NextBatch = Callable[[], Coroutine[Any, Any, Sequence[Row] | None]]
# The outcomes of a stored batch's rows, which are computed while the next batch is being stored.
OutcomesFuture = asyncio.Future[list[ProcessedRow]]


class BatchWorker(Protocol):
    """An object that plans and stores one batch of rows at a time, in this process or in another
    one.
    """

    async def plan(self, rows: Sequence[Row]) -> None:
        """Plans rows of one kind: determines by the current state of the store which writes they
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
        service = replace(context.service, random=BufferedRandom(context.service.random))
        self._context = ImportContext(service, context.job)
        self._planned: PlannedRows | None = None

    async def plan(self, rows: Sequence[Row]) -> None:
        """Plans rows; see `BatchWorker.plan`."""
        self._planned = await job_batches.plan(self._context, rows)

    async def store(self) -> OutcomesFuture:
        """Stores the rows that were planned last; see `BatchWorker.store`."""
        assert self._planned is not None  # noqa: S101 - planned before it is stored
        planned, self._planned = self._planned, None
        stored = await job_batches.store(self._context, planned)
        return asyncio.ensure_future(job_batches.outcomes(planned, stored))


async def processed_batches(
    workers: Sequence[BatchWorker], next_batch: NextBatch
) -> AsyncGenerator[OutcomesFuture, None]:
    """Plans and stores the batches that the function `next_batch` returns one after the other,
    until it returns None; yields for each stored batch, in the same order, a future of the
    outcomes of its rows.

    A batch is stored when the caller asks for it; later batches are planned meanwhile, unless they
    may refer to unstored rows. Workers may be added to `workers` and removed at any time. Raises
    StorageError, as may the futures.
    """
    queue = _BatchQueue(workers, next_batch)
    try:
        await queue.plan_next()
        while queue.batches:
            outcomes = await queue.store_first()
            await queue.plan_next()
            yield outcomes
    finally:
        await queue.abandon()


class _PlannedBatch(NamedTuple):
    """A batch that is being planned or is planned, and its worker."""

    worker: BatchWorker
    rows: Sequence[Row]
    planning: asyncio.Task[None]


class _BatchQueue:
    """The batches that are being planned or are planned, one at each worker, in their order; the
    batch after them is read meanwhile.
    """

    def __init__(self, workers: Sequence[BatchWorker], next_batch: NextBatch) -> None:
        self._workers = workers
        self._next_batch = next_batch
        # The next batch is read from disk while others are planned.
        self._next = asyncio.ensure_future(next_batch())
        self._outcomes: OutcomesFuture | None = None
        self.batches: deque[_PlannedBatch] = deque()

    async def store_first(self) -> OutcomesFuture:
        """Stores the first batch and removes it from the queue.

        Its outcomes follow in the future.
        """
        await self.batches[0].planning
        self._outcomes = await self.batches[0].worker.store()
        self.batches.popleft()
        return self._outcomes

    async def plan_next(self) -> None:
        """Starts planning a batch at each free worker, as long as the next batch may be
        planned."""
        while (worker := self._free_worker()) is not None:
            rows = await self._next
            if rows is None or not self._can_be_planned(rows):
                return
            self.batches.append(
                _PlannedBatch(worker, rows, asyncio.ensure_future(worker.plan(rows)))
            )
            self._next = asyncio.ensure_future(self._next_batch())

    async def abandon(self) -> None:
        """Awaits the tasks in progress, and stores no further batch."""
        in_progress: list[asyncio.Future[Any]] = [
            self._next,
            *(batch.planning for batch in self.batches),
        ]
        if self._outcomes is not None:
            in_progress.append(self._outcomes)
        await asyncio.gather(*in_progress, return_exceptions=True)

    def _free_worker(self) -> BatchWorker | None:
        busy = [batch.worker for batch in self.batches]
        return next((worker for worker in self._workers if worker not in busy), None)

    def _can_be_planned(self, rows: Sequence[Row]) -> bool:
        """Returns whether these rows can be planned before those in the queue are stored.

        Rows of such a kind do not refer to each other, and where they conflict they are planned
        again.
        """
        if not self.batches:
            return True
        kind = kinds.BY_MEMBER.get(rows[0].member)
        is_same = all(batch.rows[0].member == rows[0].member for batch in self.batches)
        return is_same and kind is not None and kind.is_independent
