"""The password comparisons under way in this process, by network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from idp.foundation.fairness import requester

AT_ONCE: Final = 8  # for one network
WAITING: Final = 64  # for one network; more are refused


class _Network:
    """The turns of one network, and how many attempts have or await one."""

    def __init__(self, at_once: int) -> None:
        self.turns = asyncio.Semaphore(at_once)
        self.attempts = 0


class Comparisons:
    """Limits how many passwords from one network are compared at once, so that it can't use all
    the time that a process has for hashing."""

    def __init__(self) -> None:
        self._networks: dict[str, _Network] = {}

    @asynccontextmanager
    async def turn(self, network: str, factor: int = 1) -> AsyncIterator[bool]:
        """A context manager that waits until fewer than `AT_ONCE` attempts of this network are in
        its block, and yields True; yields False at once if too many attempts wait already.

        The caller compares the password within the block, or refuses the attempt if it got False.
        For a network that many users share, the limits are multiplied by `factor`. While an
        attempt waits, its request takes no room among those that are answered.
        """
        network_turns = self._networks.setdefault(network, _Network(AT_ONCE * factor))
        if network_turns.attempts >= (AT_ONCE + WAITING) * factor:
            yield False
            return
        network_turns.attempts += 1
        try:
            if network_turns.turns.locked():
                requester.current().wait_elsewhere()
            async with network_turns.turns:
                yield True
        finally:
            network_turns.attempts -= 1
            if not network_turns.attempts:
                self._networks.pop(network, None)
