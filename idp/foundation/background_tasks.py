"""Work that goes on after an answer has left: nobody waits for it but the end of the process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from idp.foundation import logs

_log: Final = logs.logger(__name__)


class BackgroundTasks:
    """The errands under way in this process. What must not be lost is in the store as well."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin it; a failure is logged, and reaches nobody who doesn't ask."""
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    async def run(self, work: Coroutine[Any, Any, None]) -> bool:
        """Begin it, and wait; whether it went well. A wait that is cut off leaves it alone."""
        task = self.start(work)
        await asyncio.wait([task])
        return not task.cancelled() and task.exception() is None

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("an errand failed", exc_info=error)

    async def finished(self) -> None:
        """Return when none is under way any more."""
        while self._under_way:
            await asyncio.wait(self._under_way)
