"""How often the loop turns meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def turns() -> Iterator[Callable[[], int]]:
    """Within the block: how often others had their turn since its beginning."""
    count = 0

    async def others() -> None:
        nonlocal count
        while True:
            count += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(others())
    yield lambda: count
    counting.cancel()
