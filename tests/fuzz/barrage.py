"""Many spoilt requests over many connections; each answer is held against the oracles."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterator
from random import Random
from typing import Final

from tests.fuzz import oracles, samples
from tests.fuzz.heads import HEADS
from tests.fuzz.mutators import PARAMETERS
from tests.fuzz.request import Connection, Request
from tests.fuzz.world import World
from tests.support import invariants
from tests.support.browsers.visitor import Visitor
from tests.support.measured.stalls import Stalls
from tests.support.protocol.answers import assert_granted

CONNECTIONS: Final = 8
ANSWER_SECONDS: Final = 10
STALL_SECONDS: Final = 0.25
_ROUND: Final = 500  # requests until everything is made anew
_FRESH: Final = 100  # requests until assertions are signed anew
_AT_ONCE: Final = 6


class Barrage:
    """`seed` decides on every request. `counts` tells how many answers of each kind came."""

    def __init__(self, world: World, seed: int, stalls: Stalls) -> None:
        self.world = world
        self.seed = seed
        self.stalls = stalls
        self.sent = 0
        self.counts: Counter[str] = Counter()
        self._latest: deque[bytes] = deque(maxlen=CONNECTIONS)

    async def run(self, requests: int) -> None:
        """Spoil and send so many."""
        while self.sent < requests:
            await self.world.renew()
            await self.send(self._requests(min(_ROUND, requests - self.sent)))
            self.world.server.clock.advance(1)

    async def send(self, requests: Iterator[Request]) -> None:
        """Send them all. Raises AssertionError with the request that was answered wrongly."""
        port = int(self.world.host.rpartition(b":")[2])
        connections = [Connection(port) for _ in range(CONNECTIONS)]
        try:
            await _together(self._send_all(each, requests) for each in connections)
        finally:
            for each in connections:
                await each.close()

    def told(self) -> str:
        """What was sent, how it was answered, and how long the loop ever stood still."""
        kinds = ", ".join(f"{n} x {kind}" for kind, n in self.counts.most_common())
        longest, busiest = (1000 * each for each in (self.stalls.longest, self.stalls.busiest))
        stalls = f"longest stall {longest:.0f} ms, of computing {busiest:.0f} ms"
        return f"{self.sent} requests, seed {self.seed}, {stalls}: {kinds}"

    def _requests(self, n: int) -> Iterator[Request]:
        """The next `n` requests, spoilt; some come several times at once."""
        rng, made, genuine = Random(f"{self.seed}/{self.sent}"), 0, []
        while made < n:
            if made % _FRESH < _AT_ONCE or not genuine:
                genuine = samples.of(self.world)
            request = spoilt(rng, self.world, rng.choice(genuine))
            times = _AT_ONCE if rng.random() < 0.02 else 1
            made += times
            for _ in range(times):
                yield request

    async def _send_all(self, connection: Connection, left: Iterator[Request]) -> None:
        for request in left:
            self.sent += 1
            await self._send(connection, request)

    async def _send(self, connection: Connection, request: Request) -> None:
        octets = request.octets(self.world.host)
        self._latest.append(octets)
        answer = None
        try:
            answer = await asyncio.wait_for(
                connection.send(request, self.world.host), ANSWER_SECONDS
            )
            if answer is not None:
                oracles.check(self.world, request, answer)
            assert self.stalls.busiest < STALL_SECONDS, list(self._latest)
        except Exception as error:
            sent = f"seed {self.seed}, {request.kind}\n{octets[:9000]!r}"
            told = f"{sent}\nwas answered\n{answer!r}"
            raise AssertionError(f"{told}\n{error}") from error
        kind = f"{answer.status} {answer.error}".strip() if answer else "hung up"
        self.counts[kind] += 1


async def check_unharmed(world: World, browser: Visitor) -> None:
    """The store is sound, and genuine requests are answered, from whichever browser."""
    await world.renew()
    await invariants.hold(world.server.store, secrets=world.fresh)
    party = world.server.demo()
    tokens = await party.tokens(browser, *world.server.user)
    assert_granted(await party.refresh(browser, tokens["refresh_token"]))


def spoilt(rng: Random, world: World, request: Request) -> Request:
    """The request after one to four mutations; one in thirty stays genuine."""
    if rng.random() < 1 / 30:
        return request
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4])):
        mutators = HEADS if rng.random() < 0.3 else PARAMETERS
        request = rng.choice(mutators)(rng, world, request)
    return request


async def _together(running) -> None:
    """Wait for all; the first failure ends the others."""
    tasks = [asyncio.ensure_future(each) for each in running]
    try:
        await asyncio.gather(*tasks)
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
