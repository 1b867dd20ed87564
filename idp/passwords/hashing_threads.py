"""The threads in which passwords are hashed, and the queue in front of them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from idp.foundation import metrics
from idp.foundation.errors import Busy
from idp.foundation.fairness import requester
from idp.foundation.fairness.fair_queue import FairQueue
from idp.foundation.fairness.requester import Requester
from idp.foundation.randomness import Random

T = TypeVar("T")

# Random, so that refused requests do not all return at once.
RETRY_AFTER_SECONDS: Final = range(2, 6)
NICENESS: Final = 10  # over that of the process


class HashingBusy(Busy):
    """Too many passwords wait to be hashed; nothing was done."""

    error_code = "hashing_busy"

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            "too many sign-ins at once; try again in a moment",
            retry_after_seconds=retry_after_seconds,
        )


class _WorkItem:
    """A piece of work for a client, and the future that gets its result."""

    def __init__(self, work: Callable[[], Any], client: Requester) -> None:
        self.work = work
        self.client = client
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

    The networks of the clients take turns. In a full queue the newest work of the network with
    most is refused.
    """

    def __init__(self, threads: int, limit: int, random: Random) -> None:
        self._pool = ThreadPoolExecutor(
            threads, thread_name_prefix="hashing", initializer=_lower_priority
        )
        self._threads = threads
        self._random = random
        self._queue: FairQueue[_WorkItem] = FairQueue(limit)
        self._running = 0
        self._is_closed = False
        self._update_metrics()

    async def run(self, work: Callable[[], T]) -> T:
        """Runs the work when its client has its turn, and returns the result. Raises HashingBusy.

        While it waits, the request occupies no place among those that are answered.
        """
        client = requester.current()
        self.check_capacity()
        item = _WorkItem(work, client)
        if self._running < self._threads:
            self._start(item)
        else:
            self._wait(item)
            client.wait_elsewhere()
        try:
            result: T = await item.result
            return result
        finally:
            self._queue.remove(client.network, item)
            self._update_metrics()

    def check_capacity(self) -> None:
        """Raises HashingBusy if `run` would raise it now for the current client."""
        is_free = self._running < self._threads
        if self._is_closed or not (is_free or self._queue.has_room(requester.current().network)):
            metrics.HASHING_REFUSED.count()
            raise self._busy()

    def close(self) -> None:
        """Drops the waiting work, and waits for the work in progress."""
        self._is_closed = True
        while (item := self._queue.take()) is not None:
            loop = item.result.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(item.result.cancel)
        self._pool.shutdown(cancel_futures=True)

    def _wait(self, item: _WorkItem) -> None:
        dropped = self._queue.add(item.client.network, item)
        if dropped is not None and not dropped.result.done():
            metrics.HASHING_REFUSED.count()
            dropped.result.set_exception(self._busy())

    def _start(self, item: _WorkItem) -> None:
        self._running += 1
        waited = item.result.get_loop().time() - item.submitted_at
        metrics.HASHING_WAIT.observe(waited)
        self._update_metrics()
        future = asyncio.wrap_future(self._pool.submit(item.work))
        future.add_done_callback(lambda done: self._on_done(item, done))

    def _on_done(self, item: _WorkItem, done: asyncio.Future[Any]) -> None:
        self._running -= 1
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
        """Starts the work whose turn it is, and drops work whose caller was cancelled."""
        while not self._is_closed and (item := self._queue.take()) is not None:
            if item.client.has_disconnected and not item.result.done():
                item.result.set_exception(self._busy())
            elif not item.result.done():
                self._start(item)
                return

    def _update_metrics(self) -> None:
        metrics.HASHING_THREADS.set(self._threads)
        metrics.HASHING_RUNNING.set(self._running)
        metrics.HASHING_WAITING.set(len(self._queue))

    def _busy(self) -> HashingBusy:
        choices = RETRY_AFTER_SECONDS
        return HashingBusy(choices[self._random.token_bytes(1)[0] % len(choices)])
