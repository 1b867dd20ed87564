"""How many requests begin in one turn of the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from idp.foundation.network_keys import site_of

PER_TURN: Final = 2
PER_TURN_OF_SINGLE_NETWORK: Final = 64
# Requests count as those of a single network if no other one has sent any for this long.
SINGLE_AFTER_SECONDS: Final = 10.0

# Begins the next request of a queue, and returns its network; None if no request can begin.
BeginNext = Callable[[], str | None]


class Turns:
    """Limits how many requests begin in one turn of the event loop.

    All requests share one thread, so each of them waits for the others of its turn. At most
    `per_turn` requests of one site (`site_of`) begin as they arrive; further ones wait in queues,
    and in each turn at most `per_turn` requests begin from all queues together. A request of
    another site begins immediately meanwhile. Requests that are answered without waiting count
    too, because many of them would fill a turn as well. `per_turn_of_single` is the limit while
    only one network sends requests: then waiting costs processor time and is of no use to other
    clients.

    `now` is a monotonic clock, in seconds.
    """

    def __init__(
        self,
        per_turn: int = PER_TURN,
        per_turn_of_single: int = PER_TURN_OF_SINGLE_NETWORK,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_turn = per_turn
        self._per_turn_of_single = per_turn_of_single
        self._now = now
        # A callback in every turn would cost more than counting. So a turn is scheduled only
        # when this many requests have begun; until then those of earlier turns count, too.
        self._schedule_at = max(1, per_turn // 2)
        self._is_turn_scheduled = False
        self._total = 0  # requests that have begun in this turn
        self._begun: dict[str, int] = {}  # by site
        self._queues: dict[BeginNext, None] = {}  # in the order in which they have their turns
        self._network: str | None = None  # of the latest request
        self._site = ""
        # From this time on the requests are regarded as those of a single network.
        self._several_networks_until = float("-inf")

    def admit(self, network: str) -> bool:
        """Counts a request of this network that arrives now, and returns True; returns False if
        it has to wait."""
        if network != self._network:
            self._change_network(network)
        begun = self._begun.get(self._site, 0)
        if begun >= self._per_turn and begun >= self._limit():
            return False
        self._count(self._site, begun)
        return True

    def resume(self, begin_next: BeginNext) -> None:
        """Begins requests of a queue, in this turn as far as its limit allows, and in the next
        turns until none can begin."""
        self._queues.setdefault(begin_next)
        self._resume()

    def wait(self, begin_next: BeginNext) -> None:
        """Begins requests of a queue as `resume` does, but from the next turn on."""
        self._queues.setdefault(begin_next)
        self._schedule_turn()

    def _change_network(self, network: str) -> None:
        if self._network is not None:
            self._several_networks_until = self._now() + SINGLE_AFTER_SECONDS
        self._network, self._site = network, site_of(network)

    def _limit(self) -> int:
        return (
            self._per_turn
            if self._now() < self._several_networks_until
            else self._per_turn_of_single
        )

    def _count(self, site: str, begun: int) -> None:
        self._begun[site] = begun + 1
        self._total += 1
        if self._total == self._schedule_at:
            self._schedule_turn()

    def _schedule_turn(self) -> None:
        if not self._is_turn_scheduled:
            self._is_turn_scheduled = True
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._is_turn_scheduled = False
        self._total = 0
        self._begun.clear()
        if self._queues:
            self._resume()

    def _resume(self) -> None:
        """Begins requests of the queues alternately, as many as the limit of this turn allows."""
        limit = self._limit()
        while self._queues and self._total < limit:
            begin_next = next(iter(self._queues))
            del self._queues[begin_next]
            network = begin_next()
            if network is not None:
                self._queues[begin_next] = None
                site = site_of(network)
                self._count(site, self._begun.get(site, 0))
        if self._queues:
            self._schedule_turn()
