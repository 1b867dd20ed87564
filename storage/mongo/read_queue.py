"""The queue of reads that are sent immediately: fewer concurrent reads than connections."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from pymongo import AsyncMongoClient
from pymongo.errors import WaitQueueTimeoutError

from storage import deadline
from storage.base import Unavailable
from storage.mongo import faults
from storage.observer import Observer

T = TypeVar("T")

# The driver's own limit for the wait for a connection must not be set: a reader that is cancelled
# just after it leaves the lock of the driver's pool locked forever (`asyncio.wait_for` of Python
# 3.11).
DRIVERS_LIMIT: Final = "waitqueuetimeoutms"
_QUEUE_SECONDS: Final = 2.0
_MAX_READS: Final = 80  # of 100 connections, the default; the others are for writes


class ReadQueue:
    """The queue of reads over one client. `observer` is notified of the time that each read
    waits."""

    observer: Observer | None = None

    def __init__(self, client: Any) -> None:
        self._semaphore = asyncio.Semaphore(_max_reads(client))
        self._running: set[asyncio.Task[Any]] = set()

    async def read(self, call: Callable[[], Awaitable[T]]) -> T:
        """Returns the answer of `call`, a read that is repeated while the primary changes.

        Raises Unavailable when there is no answer in time, or when so many reads are in progress
        that this one would have to wait for too long.
        """
        with deadline.TimedCall() as seconds:
            if seconds == math.inf:
                return await faults.read(lambda: self._read_in_queue(call))
            return await self._read_until(call, seconds)

    async def _read_until(self, call: Callable[[], Awaitable[T]], seconds: float) -> T:
        """Reads in a task that is abandoned at the deadline: it is cancelled, but the driver may
        take seconds to end, or lose the cancellation."""
        task = asyncio.get_running_loop().create_task(
            faults.read(lambda: self._read_in_queue(call))
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await deadline.wait_for_answer(
                deadline.answer_future(task), seconds, _no_answer
            )
        finally:
            task.cancel()

    async def drain(self) -> None:
        """Returns when no abandoned read is in progress."""
        while self._running:
            await asyncio.wait(set(self._running))

    async def _read_in_queue(self, call: Callable[[], Awaitable[T]]) -> T:
        started_at = time.perf_counter()
        try:
            async with asyncio.timeout(_QUEUE_SECONDS):
                await self._semaphore.acquire()
        except TimeoutError:
            raise WaitQueueTimeoutError("too many reads are in progress") from None
        finally:
            if self.observer is not None:
                self.observer.pool_waits("reads", [time.perf_counter() - started_at])
        try:
            return await call()
        finally:
            self._semaphore.release()


def _max_reads(client: Any) -> int:
    """Returns the number of reads that may be in progress concurrently: most of the client's
    connections."""
    if not isinstance(client, AsyncMongoClient):
        return _MAX_READS
    connections = client.options.pool_options.max_pool_size or math.inf
    return max(1, int(connections * 0.8)) if math.isfinite(connections) else _MAX_READS


def _no_answer() -> Unavailable:
    return Unavailable("MongoDB gives no answer before the deadline of the request")
