"""Where batches of a package are worked on: several are judged at once, one is stored at a time.

They are stored in the package's order, however many are being judged: whoever stops knows what
was done.
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
# What became of each row of a batch that is stored: told while others store theirs.
OutcomesFuture = asyncio.Future[list[Settled]]


class BatchWorker(Protocol):
    """Where one batch at a time is worked on, in this process or in another one."""

    async def judge(self, rows: Sequence[Row]) -> None:
        """How these rows, which are of one kind, stand to what is stored. Raises StorageError."""

    async def store(self) -> OutcomesFuture:
        """Store what was judged last. Raises StorageError: then some rows may be stored, and are
        recognised when they come again."""


class LocalBatchWorker:
    """A desk in this process."""

    def __init__(self, taking: ImportContext) -> None:
        service = replace(taking.service, random=Stocked(taking.service.random))
        self._taking = ImportContext(service, taking.job)
        self._judged: PlannedRows | None = None

    async def judge(self, rows: Sequence[Row]) -> None:
        """As `BatchWorker.judge`."""
        self._judged = await job_batches.judge(self._taking, rows)

    async def store(self) -> OutcomesFuture:
        """As `BatchWorker.store`."""
        assert self._judged is not None  # noqa: S101 - the order of a desk's work
        judged, self._judged = self._judged, None
        stored = await job_batches.store(self._taking, judged)
        return asyncio.ensure_future(job_batches.told(judged, stored))


async def settled(
    desks: Sequence[BatchWorker], following: Following
) -> AsyncGenerator[OutcomesFuture, None]:
    """What became of each batch of rows that `following` gives, until it gives None.

    A batch is stored when its caller comes for it; those behind it are judged meanwhile, where
    they may be. `desks` may become more, or fewer, at any time. Raises StorageError, and so may
    what is told.
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
    """A batch that is being judged, or was, and its desk."""

    desk: BatchWorker
    rows: Sequence[Row]
    judging: asyncio.Task[None]


class _Line:
    """The batches at desks, in their order; the one behind them is fetched meanwhile."""

    def __init__(self, desks: Sequence[BatchWorker], following: Following) -> None:
        self._desks = desks
        self._following = following
        self._next = asyncio.ensure_future(following())
        self._telling: OutcomesFuture | None = None
        self.places: deque[_PlannedBatch] = deque()

    async def first(self) -> OutcomesFuture:
        """Store the first batch, which leaves the line. What became of it is told later."""
        await self.places[0].judging
        self._telling = await self.places[0].desk.store()
        self.places.popleft()
        return self._telling

    async def fill(self) -> None:
        """Have as many batches judged as there are desks for, and as may be by now."""
        while (desk := self._free()) is not None:
            rows = await self._next
            if rows is None or not self._may_overtake(rows):
                return
            self.places.append(_PlannedBatch(desk, rows, asyncio.ensure_future(desk.judge(rows))))
            self._next = asyncio.ensure_future(self._following())

    async def leave(self) -> None:
        """Let what is under way come to its end, and store nothing of it."""
        going: list[asyncio.Future[Any]] = [self._next, *(each.judging for each in self.places)]
        if self._telling is not None:
            going.append(self._telling)
        await asyncio.gather(*going, return_exceptions=True)

    def _free(self) -> BatchWorker | None:
        taken = [place.desk for place in self.places]
        return next((desk for desk in self._desks if desk not in taken), None)

    def _may_overtake(self, rows: Sequence[Row]) -> bool:
        """Whether these can be judged before what is in the line is stored: nothing of them
        refers to it, and where they want the same they are judged again."""
        if not self.places:
            return True
        kind = kinds.BY_MEMBER.get(rows[0].member)
        is_same = all(place.rows[0].member == rows[0].member for place in self.places)
        return is_same and kind is not None and kind.stands_alone
