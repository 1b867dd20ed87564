"""The threads in which passwords are hashed, and the queue in front of them."""

from __future__ import annotations

import asyncio
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


class HashingBusy(Busy):
    """Too many passwords wait to be hashed; nothing was done."""

    error_code = "hashing_busy"

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            "too many sign-ins at once; try again in a moment",
            retry_after_seconds=retry_after_seconds,
        )


class _Task:
    """A piece of work for a client, and the future that gets its result."""

    def __init__(self, work: Callable[[], Any], client: Requester) -> None:
        self.work = work
        self.client = client
        loop = asyncio.get_running_loop()
        self.result: asyncio.Future[Any] = loop.create_future()
        self.submitted_at = loop.time()


class HashingThreads:
    """Runs slow work in threads, and lets at most `limit` pieces of it wait.

    The networks of the clients take turns. In a full queue the newest work of the network with
    most is refused.
    """

    def __init__(self, threads: int, limit: int, random: Random) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="hashing")
        self._threads = threads
        self._random = random
        self._queue: FairQueue[_Task] = FairQueue(limit)
        self._running = 0
        self._is_closed = False
        self._show()

    async def run(self, work: Callable[[], T]) -> T:
        """Runs the work when its client has its turn, and returns the result. Raises HashingBusy.

        While it waits, the request takes no room among those that are answered.
        """
        client = requester.current()
        self.expect_room()
        task = _Task(work, client)
        if self._running < self._threads:
            self._start(task)
        else:
            self._wait(task)
            client.wait_elsewhere()
        try:
            result: T = await task.result
            return result
        finally:
            self._queue.remove(client.network, task)
            self._show()

    def expect_room(self) -> None:
        """Raises HashingBusy if `run` would raise it now for the current client."""
        is_free = self._running < self._threads
        if self._is_closed or not (is_free or self._queue.has_room(requester.current().network)):
            metrics.HASHING_REFUSED.count()
            raise self._busy()

    def close(self) -> None:
        """Drops the waiting work, and waits for the work in progress."""
        self._is_closed = True
        while (task := self._queue.take()) is not None:
            loop = task.result.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(task.result.cancel)
        self._pool.shutdown(cancel_futures=True)

    def _wait(self, task: _Task) -> None:
        dropped = self._queue.add(task.client.network, task)
        if dropped is not None and not dropped.result.done():
            metrics.HASHING_REFUSED.count()
            dropped.result.set_exception(self._busy())

    def _start(self, task: _Task) -> None:
        self._running += 1
        waited = task.result.get_loop().time() - task.submitted_at
        metrics.HASHING_WAIT.observe(waited)
        self._show()
        running = asyncio.wrap_future(self._pool.submit(task.work))
        running.add_done_callback(lambda done: self._ended(task, done))

    def _ended(self, task: _Task, done: asyncio.Future[Any]) -> None:
        self._running -= 1
        self._start_next()
        # The exception is read in any case, or asyncio would report that nobody did.
        error = None if done.cancelled() else done.exception()
        if task.result.done():  # its request was cancelled meanwhile
            return
        if done.cancelled():
            task.result.cancel()
        elif error is not None:
            task.result.set_exception(error)
        else:
            task.result.set_result(done.result())

    def _start_next(self) -> None:
        """Starts the work whose turn it is, and drops that for which nobody waits any more."""
        while not self._is_closed and (task := self._queue.take()) is not None:
            if task.client.has_left and not task.result.done():
                task.result.set_exception(self._busy())
            elif not task.result.done():
                self._start(task)
                return

    def _show(self) -> None:
        metrics.HASHING_THREADS.set(self._threads)
        metrics.HASHING_RUNNING.set(self._running)
        metrics.HASHING_WAITING.set(len(self._queue))

    def _busy(self) -> HashingBusy:
        among = RETRY_AFTER_SECONDS
        return HashingBusy(among[self._random.token_bytes(1)[0] % len(among)])
