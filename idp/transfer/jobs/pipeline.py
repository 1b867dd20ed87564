"""The pipeline of a package's batches: one is planned while the batch before it is stored, and the
one after them is read in a thread.

Batches are stored in the package's order, so one position describes the progress.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any

from idp.transfer import kinds
from idp.transfer.jobs import batches as job_batches
from idp.transfer.jobs.batches import PlannedRows, ProcessedRow
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.package.rows import Row

# Returns the rows of the next batch; None after the last one.
NextBatch = Callable[[], Coroutine[Any, Any, Sequence[Row] | None]]
# The outcomes of a stored batch's rows, which are computed while the next batch is being stored.
OutcomesTask = asyncio.Task[list[ProcessedRow]]


async def processed_batches(
    context: ImportContext, next_batch: NextBatch
) -> AsyncGenerator[OutcomesTask, None]:
    """Plans and stores the batches that the function `next_batch` returns one after the other,
    until it returns None; yields for each stored batch, in the same order, a task that returns the
    outcomes of its rows.

    A batch is stored when the caller asks for it; the next one is planned meanwhile, unless it may
    refer to unstored rows. Raises StorageError, as may the tasks.
    """
    rows = await next_batch()
    reading = asyncio.create_task(next_batch())
    planning: asyncio.Task[PlannedRows] | None = None
    outcomes: OutcomesTask | None = None
    try:
        while rows is not None:
            planned = await (planning or job_batches.plan(context, rows))
            next_rows, planning = await reading, None
            reading = asyncio.create_task(next_batch())
            if next_rows is not None and _is_independent(rows, next_rows):
                planning = asyncio.create_task(job_batches.plan(context, next_rows))
            stored = await job_batches.store(context, planned)
            outcomes = asyncio.create_task(job_batches.outcomes(planned, stored))
            yield outcomes
            rows = next_rows
    finally:
        in_progress = [task for task in (reading, planning, outcomes) if task is not None]
        await asyncio.gather(*in_progress, return_exceptions=True)


def _is_independent(rows: Sequence[Row], next_rows: Sequence[Row]) -> bool:
    """Returns whether the next rows can be planned before `rows` are stored.

    Rows of such a kind do not refer to each other, and where they conflict they are planned again.
    """
    kind = kinds.BY_MEMBER.get(rows[0].member)
    return rows[0].member == next_rows[0].member and kind is not None and kind.is_independent
