"""Long work on the event loop, which lets other tasks of the process run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

_BATCH_SIZE: Final = 25


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Yields the items one by one; after every few of them it lets other tasks of the event loop
    run."""
    for n, item in enumerate(items, 1):
        yield item
        if n % _BATCH_SIZE == 0:
            await asyncio.sleep(0)
