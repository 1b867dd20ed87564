"""How many requests begin in one turn of the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

PER_TURN: Final = 2
PER_TURN_OF_SINGLE_CLIENT: Final = 64
# Requests count as those of a single client if no other one has sent any for this long.
SINGLE_AFTER_SECONDS: Final = 10.0

# Begins the next request of a queue, and returns its client; None if no request can begin.
BeginNext = Callable[[], str | None]


class Turns:
    """Limits how many requests begin in one turn of the event loop.

    All requests share one thread, so each of them waits for the others of its turn. At most
    `per_turn` requests of one client (`network_keys.client_key`) begin as they arrive; further
    ones wait in queues, and in each turn at most `per_turn` requests begin from all queues
    together. A request of another client begins immediately meanwhile. Requests that are answered
    without waiting count too, because many of them would fill a turn as well. `per_turn_of_single`
    is the limit while only one client sends requests: then waiting costs processor time and is of
    no use to others.

    `now` is a monotonic clock, in seconds.
    """

    def __init__(
        self,
        per_turn: int = PER_TURN,
        per_turn_of_single: int = PER_TURN_OF_SINGLE_CLIENT,
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
        self._begun: dict[str, int] = {}  # by client
        self._queues: dict[BeginNext, None] = {}  # in the order in which they have their turns
        self._client: str | None = None  # of the latest request
        # From this time on the requests are regarded as those of a single client.
        self._several_clients_until = float("-inf")

    def admit(self, client: str) -> bool:
        """Counts a request of this client that arrives now, and returns True; returns False if it
        has to wait."""
        if client != self._client:
            self._change_client(client)
        begun = self._begun.get(client, 0)
        if begun >= self._per_turn and begun >= self._limit():
            return False
        self._count(client, begun)
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

    def _change_client(self, client: str) -> None:
        if self._client is not None:
            self._several_clients_until = self._now() + SINGLE_AFTER_SECONDS
        self._client = client

    def _limit(self) -> int:
        return (
            self._per_turn
            if self._now() < self._several_clients_until
            else self._per_turn_of_single
        )

    def _count(self, client: str, begun: int) -> None:
        self._begun[client] = begun + 1
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
            client = begin_next()
            if client is not None:
                self._queues[begin_next] = None
                self._count(client, self._begun.get(client, 0))
        if self._queues:
            self._schedule_turn()
