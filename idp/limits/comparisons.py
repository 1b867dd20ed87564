"""The password comparisons that run in this process, by network."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from idp.limits import requester
from idp.limits.fair_queue import FairQueue

MAX_CONCURRENT: Final = 8  # for one network
MAX_WAITING: Final = 1024  # of all networks

_Key = tuple[str, bool]  # the network, and whether its hashes are expensive
_Turn = asyncio.Future[bool]  # its result is whether the attempt may begin


class _Network:
    """The attempts of one network: how many have a turn, and those that wait for one."""

    def __init__(self) -> None:
        self.running = 0
        self.waiting: deque[_Turn] = deque()

    def pass_on(self) -> None:
        """Gives a turn that has ended to the attempt that has waited for longest."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():  # it may have been refused, or its request cancelled
                turn.set_result(True)
                return
        self.running -= 1


class Comparisons:
    """Limits how many passwords from one network are compared at once, so that it can't use all
    the time that a process has for hashing.

    The others of the network wait. Only if too many wait in all, one is refused: the newest of
    the network with most waiting ones. Hashes that are more expensive than the service's own have
    turns of their own: a turn takes as long as its hash, so they would make the others of the
    network wait.
    """

    def __init__(self) -> None:
        self._networks: dict[_Key, _Network] = {}
        self._waiting: FairQueue[_Turn] = FairQueue(MAX_WAITING)

    @asynccontextmanager
    async def turn(
        self, network: str, factor: int = 1, *, is_expensive: bool = False
    ) -> AsyncIterator[bool]:
        """A context manager that waits until fewer than `MAX_CONCURRENT` attempts of this network
        are in its block, and yields True; yields False if too many attempts wait.

        The caller compares the password within the block, or refuses the attempt if it got False.
        For a network that many users share, the limit is multiplied by `factor`. While an attempt
        waits, its request takes no room among those that are answered.
        """
        key = (network, is_expensive)
        attempts = self._networks.setdefault(key, _Network())
        if attempts.running < MAX_CONCURRENT * factor:
            attempts.running += 1
        elif not await self._wait(key, attempts):
            yield False
            return
        try:
            yield True
        finally:
            self._end_turn(key, attempts)

    def _end_turn(self, key: _Key, attempts: _Network) -> None:
        attempts.pass_on()
        if not attempts.running:
            self._networks.pop(key, None)

    async def _wait(self, key: _Key, attempts: _Network) -> bool:
        """Waits for a turn of the network; returns False if the attempt is refused instead."""
        network, _ = key
        turn: _Turn = asyncio.get_running_loop().create_future()
        dropped = self._waiting.add(network, turn)
        if dropped is turn:
            return False
        if dropped is not None and not dropped.done():
            dropped.set_result(False)
        attempts.waiting.append(turn)
        requester.current().wait_elsewhere()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self._end_turn(key, attempts)  # the turn came at the moment of the cancellation
            raise
        finally:
            self._waiting.remove(network, turn)
