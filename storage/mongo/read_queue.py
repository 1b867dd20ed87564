"""The queue of reads that are sent as they come: fewer at once than the client has connections."""

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
# just after it leaves the lock of the driver's pool locked for ever (`asyncio.wait_for` of Python
# 3.11).
DRIVERS_LIMIT: Final = "waitqueuetimeoutms"
_QUEUE_SECONDS: Final = 2.0
_PLACES: Final = 80  # of 100 connections, the default; the others are for writes


class ReadQueue:
    """The queue of reads over one client. `observer` is notified how long each one waits."""

    observer: Observer | None = None

    def __init__(self, client: Any) -> None:
        self._places = asyncio.Semaphore(_places(client))
        self._running: set[asyncio.Task[Any]] = set()

    async def read(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Returns the answer of `ask`, a read that is repeated while the primary changes.

        Raises Unavailable when there is no answer in time, or when so many reads are in progress
        that this one would have to wait for too long.
        """
        with deadline.TimedCall() as seconds:
            if seconds == math.inf:
                return await faults.read(lambda: self._in_turn(ask))
            return await self._in_time(ask, seconds)

    async def _in_time(self, ask: Callable[[], Awaitable[T]], seconds: float) -> T:
        """Reads in a task that is left alone at the deadline: it is cancelled, but the driver may
        take seconds to end, or lose the cancellation."""
        task = asyncio.get_running_loop().create_task(faults.read(lambda: self._in_turn(ask)))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await deadline.answered(deadline.answer_of(task), seconds, _no_answer)
        finally:
            task.cancel()

    async def drain(self) -> None:
        """Returns when no read is in progress that was left alone."""
        while self._running:
            await asyncio.wait(set(self._running))

    async def _in_turn(self, ask: Callable[[], Awaitable[T]]) -> T:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(_QUEUE_SECONDS):
                await self._places.acquire()
        except TimeoutError:
            raise WaitQueueTimeoutError("too many reads are in progress") from None
        finally:
            if self.observer is not None:
                self.observer.pool_waits("reads", [time.perf_counter() - began])
        try:
            return await ask()
        finally:
            self._places.release()


def _places(client: Any) -> int:
    """Returns how many reads may be in progress at once: most of the client's connections."""
    if not isinstance(client, AsyncMongoClient):
        return _PLACES
    connections = client.options.pool_options.max_pool_size or math.inf
    return max(1, int(connections * 0.8)) if math.isfinite(connections) else _PLACES


def _no_answer() -> Unavailable:
    return Unavailable("MongoDB gives no answer before the deadline of the request")
