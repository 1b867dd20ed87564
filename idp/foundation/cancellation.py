"""Cancellation of work whose caller has disconnected."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from idp.foundation.errors import DeadlineExceeded

T = TypeVar("T")


async def run_unless_set(event: asyncio.Event, work: Awaitable[T]) -> T:
    """Returns the result of `work`, which is cancelled if `event` is set first.

    Raises DeadlineExceeded in that case, and what `work` raises.
    """
    work_task = asyncio.ensure_future(work)
    event_task = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait((work_task, event_task), return_when=asyncio.FIRST_COMPLETED)
        if not work_task.done():
            raise DeadlineExceeded("the caller did not wait")
        return await work_task
    finally:
        work_task.cancel()
        event_task.cancel()
        await asyncio.gather(work_task, event_task, return_exceptions=True)
