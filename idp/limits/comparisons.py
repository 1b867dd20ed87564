"""The password comparisons under way in this process, by network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

AT_ONCE: Final = 8  # for one network
WAITING: Final = 64  # for one network; more are refused


class _Network:
    """The turns of one network, and how many tries have or await one."""

    def __init__(self, at_once: int) -> None:
        self.turns = asyncio.Semaphore(at_once)
        self.tries = 0


class Comparisons:
    """Keeps one network from using all the time that a process has for hashing passwords."""

    def __init__(self) -> None:
        self._networks: dict[str, _Network] = {}

    @asynccontextmanager
    async def turn(self, network: str, factor: int = 1) -> AsyncIterator[bool]:
        """Enters the block with one of the few turns of this network; yields False if too many
        tries await one.

        A network that many users share has `factor` times the turns.
        """
        known = self._networks.setdefault(network, _Network(AT_ONCE * factor))
        if known.tries >= (AT_ONCE + WAITING) * factor:
            yield False
            return
        known.tries += 1
        try:
            async with known.turns:
                yield True
        finally:
            known.tries -= 1
            if not known.tries:
                self._networks.pop(network, None)
