"""Cancellation of work whose caller has disconnected."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from idp.foundation.errors import DeadlineExceeded

T = TypeVar("T")


async def unless(disconnected: asyncio.Event, work: Awaitable[T]) -> T:
    """Returns the result of `work`, which is cancelled when `disconnected` is set first.

    Raises DeadlineExceeded in that case, and what `work` raises.
    """
    doing, leaving = asyncio.ensure_future(work), asyncio.ensure_future(disconnected.wait())
    try:
        await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise DeadlineExceeded("the caller did not wait")
        return await doing
    finally:
        doing.cancel()
        leaving.cancel()
        await asyncio.gather(doing, leaving, return_exceptions=True)
