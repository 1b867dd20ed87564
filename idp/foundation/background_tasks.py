"""Background tasks: work that continues after the answer was sent; only the end of the process
waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any, Final

from idp.foundation import logs
from storage import deadline

_log: Final = logs.logger(__name__)


class BackgroundTasks:
    """The background tasks of this process. Work that must not be lost is recorded in the store as
    well."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()
        self._until_stop: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts a task, which has no deadline even if a request starts it. Its failure is logged,
        and raised only to callers that await the task."""
        context = copy_context()
        context.run(deadline.end)
        task = asyncio.create_task(work, context=context)
        self._running.add(task)
        task.add_done_callback(self._on_end)
        return task

    def start_until_stop(self, work: Coroutine[Any, Any, None]) -> None:
        """Starts a task that may wait for another server for any time; `finished` cancels it."""
        task = self.start(work)
        self._until_stop.add(task)
        task.add_done_callback(self._until_stop.discard)

    @property
    def has_waiting(self) -> bool:
        """Whether a task of `start_until_stop` is running."""
        return bool(self._until_stop)

    async def run(self, work: Coroutine[Any, Any, None]) -> bool:
        """Starts a task and waits for it; returns whether it ended without an error, which is
        logged. If the wait is cancelled, the task continues."""
        task = self.start(work)
        await asyncio.wait([task])
        return not task.cancelled() and task.exception() is None

    def _on_end(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("a background task failed", exc_info=error)

    async def finished(self) -> None:
        """Returns once no task is running."""
        for task in self._until_stop:
            task.cancel()
        while self._running:
            await asyncio.wait(self._running)
