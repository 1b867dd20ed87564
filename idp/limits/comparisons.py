"""The password comparisons that run in this process, by network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from idp.foundation.fairness import requester

MAX_CONCURRENT: Final = 8  # for one network
WAITING: Final = 64  # for one network; more are refused


class _Network:
    """The turns of one network, and the number of attempts that have one or wait for one."""

    def __init__(self, max_concurrent: int) -> None:
        self.turns = asyncio.Semaphore(max_concurrent)
        self.attempts = 0


class Comparisons:
    """Limits how many passwords from one network are compared at once, so that it can't use all
    the time that a process has for hashing.

    Hashes that are dearer than the service's own have turns of their own: a turn takes as long as
    its hash, so they would make the others of the network wait.
    """

    def __init__(self) -> None:
        self._networks: dict[tuple[str, bool], _Network] = {}

    @asynccontextmanager
    async def turn(
        self, network: str, factor: int = 1, *, is_dear: bool = False
    ) -> AsyncIterator[bool]:
        """A context manager that waits until fewer than `MAX_CONCURRENT` attempts of this network
        are in its block, and yields True; yields False immediately if too many attempts wait
        already.

        The caller compares the password within the block, or refuses the attempt if it got False.
        For a network that many users share, the limits are multiplied by `factor`. While an
        attempt waits, its request takes no room among those that are answered.
        """
        key = (network, is_dear)
        network_turns = self._networks.setdefault(key, _Network(MAX_CONCURRENT * factor))
        if network_turns.attempts >= (MAX_CONCURRENT + WAITING) * factor:
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
                self._networks.pop(key, None)
