"""Long work on the loop, in turns with whatever else its process does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

_AT_ONCE: Final = 25


async def in_turns(things: Iterable[T]) -> AsyncIterator[T]:
    """The things; after some of them, others have their turn."""
    for n, thing in enumerate(things, 1):
        yield thing
        if n % _AT_ONCE == 0:
            await asyncio.sleep(0)
