"""The threads in which passwords are hashed, and the queue in front of them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, Final, NamedTuple, TypeVar

from idp.foundation import metrics
from idp.foundation.errors import Busy
from idp.foundation.randomness import Random
from idp.limits import requester
from idp.limits.requester import Requester
from idp.limits.time_queue import TimeQueue

T = TypeVar("T")

# Random, so that refused requests do not all return at once.
RETRY_AFTER_SECONDS: Final = range(2, 6)
NICENESS: Final = 10  # over that of the process


class WorkCost(NamedTuple):
    """The seconds that a piece of work is expected to take, and whether it is more expensive than
    a hash by the service's own recipe."""

    seconds: float
    is_expensive: bool = False


USUAL: Final = WorkCost(0.03)


class HashingBusy(Busy):
    """Too many passwords wait to be hashed; nothing was done."""

    error_code = "hashing_busy"

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            "too many sign-ins at once; try again in a moment",
            retry_after_seconds=retry_after_seconds,
        )


class _WorkItem:
    """A piece of work for a client, and the future that gets its result. `seconds` is how long it
    took, once it was done."""

    def __init__(self, work: Callable[[], Any], client: Requester, cost: WorkCost) -> None:
        self.work = work
        self.client = client
        self.cost = cost
        self.seconds = cost.seconds
        loop = asyncio.get_running_loop()
        self.result: asyncio.Future[Any] = loop.create_future()
        self.submitted_at = loop.time()


def _lower_priority() -> None:
    """Lowers the priority of this thread, so that hashing delays no other request. Elsewhere than
    on Linux, that would be the priority of the whole process."""
    if sys.platform == "linux":
        os.nice(NICENESS)


class HashingThreads:
    """Runs slow work in threads of low priority, and lets at most `limit` pieces of it wait.

    The networks of the clients take turns by the time that their work takes, as it was measured.
    In a full queue the newest work of the network whose work takes most is refused.

    One of the threads takes no work that is more expensive than a hash by the service's own
    recipe. Where there is a single one, a second one takes the expensive work, one piece at a
    time. `now` is a monotonic clock, in seconds.
    """

    def __init__(
        self, threads: int, limit: int, random: Random, now: Callable[[], float] = perf_counter
    ) -> None:
        self._max_running = max(2, threads)
        self._max_expensive = max(1, threads - 1)
        self._pool = ThreadPoolExecutor(
            self._max_running, thread_name_prefix="hashing", initializer=_lower_priority
        )
        self._threads = threads
        self._random = random
        self._now = now
        self._queue: TimeQueue[_WorkItem] = TimeQueue(limit)
        self._running = 0
        self._running_expensive = 0
        self._is_closed = False
        self._update_metrics()

    async def run(self, work: Callable[[], T], cost: WorkCost = USUAL) -> T:
        """Runs the work when its client has its turn, and returns the result. Raises HashingBusy.

        While it waits, the request occupies no place among those that are answered.
        """
        client = requester.current()
        self.check_capacity(cost)
        item = _WorkItem(work, client, cost)
        if self._has_thread(cost):
            self._start(item)
        else:
            self._wait(item)
            client.wait_elsewhere()
        try:
            result: T = await item.result
            return result
        finally:
            self._queue.remove(client.key, item)
            self._update_metrics()

    def check_capacity(self, cost: WorkCost = USUAL) -> None:
        """Raises HashingBusy if `run` would raise it now for the current client."""
        client = requester.current().key
        has_room = self._has_thread(cost) or self._queue.has_room(client, cost.seconds)
        if self._is_closed or not has_room:
            metrics.HASHING_REFUSED.count()
            raise self._busy()

    def _has_thread(self, cost: WorkCost) -> bool:
        """Returns whether a thread that may take such work is free."""
        if self._running >= self._max_running:
            return False
        if cost.is_expensive:
            return self._running_expensive < self._max_expensive
        return self._running - self._running_expensive < self._threads

    def close(self) -> None:
        """Drops the waiting work, and waits for the work in progress."""
        self._is_closed = True
        while (item := self._queue.take(lambda _: True)) is not None:
            loop = item.result.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(item.result.cancel)
        self._pool.shutdown(cancel_futures=True)

    def _wait(self, item: _WorkItem) -> None:
        dropped = self._queue.add(item.client.key, item, item.cost.seconds)
        if dropped is not None and not dropped.result.done():
            metrics.HASHING_REFUSED.count()
            dropped.result.set_exception(self._busy())

    def _start(self, item: _WorkItem) -> None:
        self._running += 1
        self._running_expensive += item.cost.is_expensive
        self._queue.begin(item.client.key, item.cost.seconds)
        waited = item.result.get_loop().time() - item.submitted_at
        metrics.HASHING_WAIT.observe(waited)
        self._update_metrics()
        future = asyncio.wrap_future(self._pool.submit(self._measured, item))
        future.add_done_callback(lambda done: self._on_done(item, done))

    def _measured(self, item: _WorkItem) -> Any:
        """Does a piece of work, in a thread, and notes how long it took."""
        began = self._now()
        try:
            return item.work()
        finally:
            item.seconds = self._now() - began

    def _on_done(self, item: _WorkItem, done: asyncio.Future[Any]) -> None:
        self._running -= 1
        self._running_expensive -= item.cost.is_expensive
        self._queue.end(item.client.key, item.cost.seconds, item.seconds)
        self._start_next()
        # The exception is read in any case, or asyncio would report it as never retrieved.
        error = None if done.cancelled() else done.exception()
        if item.result.done():  # its request was cancelled meanwhile
            return
        if done.cancelled():
            item.result.cancel()
        elif error is not None:
            item.result.set_exception(error)
        else:
            item.result.set_result(done.result())

    def _start_next(self) -> None:
        """Starts the work whose turn it is, as far as there are threads for it, and drops work
        whose caller was cancelled."""
        while not self._is_closed and (item := self._queue.take(self._may_start)) is not None:
            if item.client.has_disconnected and not item.result.done():
                item.result.set_exception(self._busy())
            elif not item.result.done():
                self._start(item)

    def _may_start(self, item: _WorkItem) -> bool:
        return self._has_thread(item.cost)

    def _update_metrics(self) -> None:
        metrics.HASHING_THREADS.set(self._threads)
        metrics.HASHING_RUNNING.set(self._running)
        metrics.HASHING_WAITING.set(len(self._queue))

    def _busy(self) -> HashingBusy:
        choices = RETRY_AFTER_SECONDS
        return HashingBusy(choices[self._random.token_bytes(1)[0] % len(choices)])
