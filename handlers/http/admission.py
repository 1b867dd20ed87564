"""Admission: how many requests are answered at once, which ones wait, and which ones are refused.

Each route belongs to a group, which has a number of places in this process. A request takes a
place before its body is read, and gives it back when it has been answered. Without a free place it
waits: the networks of the clients take turns. When too many wait, the newest request of the
network with most waiting ones is refused, and so is every request that has waited too long.

The requests that are answered at once delay each other, as they share one thread. Therefore the
first places of a group are taken at once, and of the others a few in each turn of the event loop:
requests that wait for the store soon have all places, those that keep the thread busy do not.

Refused requests get status 503 with a random Retry-After, so that they do not all return at once.
Status 429 is only for a client that exceeds a limit of its own. Nothing of this is stored.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec import Struct
from tornado.web import Finish

from idp.foundation import logs, metrics
from idp.foundation.errors import Busy
from idp.foundation.fairness.fair_queue import FairQueue
from idp.foundation.fairness.requester import Requester
from idp.foundation.randomness import Random

RETRY_AFTER_SECONDS: Final = range(1, 4)


class Group(Struct, frozen=True):
    """Routes that share places: how many of their requests are answered at once in a process, how
    many may wait, and for how long. Of those answered at once, `unpaced` begin when they arrive;
    beyond these, `per_turn` begin in each turn of the event loop."""

    name: str
    at_once: int
    waiting: int
    longest_wait_seconds: float
    unpaced: int = 16
    per_turn: int = 8


HEALTH: Final = Group(
    "health", at_once=sys.maxsize, waiting=0, longest_wait_seconds=0, unpaced=sys.maxsize
)
PUBLIC: Final = Group("public", at_once=128, waiting=512, longest_wait_seconds=1, unpaced=128)
PROTOCOL: Final = Group("protocol", at_once=64, waiting=512, longest_wait_seconds=2)
PAGES: Final = Group("pages", at_once=64, waiting=512, longest_wait_seconds=2)
MANAGEMENT: Final = Group("management", at_once=16, waiting=128, longest_wait_seconds=5)
BULK: Final = Group("bulk", at_once=4, waiting=8, longest_wait_seconds=5)
GROUPS: Final = (HEALTH, PUBLIC, PROTOCOL, PAGES, MANAGEMENT, BULK)

Reason = Literal["queue", "wait"]
_LINES_PER_SECOND: Final = 1
_log: Final = logs.logger(__name__)
CallLater = Callable[[float, Callable[[], None]], asyncio.TimerHandle]


class Shed(Busy):
    """The request is refused because the process is overloaded: its group's queue is full, or it
    has waited too long. Nothing was done."""

    def __init__(self, group: Group, reason: Reason, retry_after_seconds: int) -> None:
        super().__init__(
            "the service is busy, repeat the request later",
            retry_after_seconds=retry_after_seconds,
        )
        self.group = group
        self.reason = reason


class ClientLeft(Finish):
    """The client has disconnected while its request waited; it is not answered."""


class Place(Requester):
    """The place of one request in its group: waited for, taken, or given back.

    `refusal` is why the request did not get one, if so; `turn` is done when that is decided.
    """

    def __init__(self, network: str, places: GroupPlaces) -> None:
        super().__init__(network)
        self.refusal: Shed | ClientLeft | None = None
        self.is_taken = self.is_waiting = False
        self.turn: asyncio.Future[None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.waits_since = 0.0
        self._places = places

    async def wait(self) -> None:
        """Returns when the place is taken. Raises Shed; ClientLeft after `give_back`."""
        if self.turn is not None:
            await self.turn
        if self.refusal is not None:
            raise self.refusal

    def give_back(self) -> None:
        """Lets another request have the place, or ends the waiting for it; a second time has no
        effect."""
        self._places.give_back(self)

    def wait_elsewhere(self) -> None:
        self.give_back()


class GroupPlaces:
    """The places of one group in this process."""

    def __init__(self, group: Group, random: Random, call_later: CallLater | None = None) -> None:
        self._group = group
        self._random = random
        self._call_later = call_later
        self._queue: FairQueue[Place] = FairQueue(group.waiting)
        self._unpaced = min(group.unpaced, group.at_once)
        self._begins_next_turn = False
        self.in_use = 0

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._queue)

    def enter(self, network: str) -> Place:
        """Returns the place of a new request from this network: taken, waiting or refused."""
        place = Place(network, self)
        if self.in_use < self._unpaced:  # then none waits
            self._take(place)
            return place
        dropped = self._queue.add(network, place)
        if dropped is not place:
            self._wait(place)
        if dropped is not None:
            self._refuse(dropped, "queue")
        self._show_waiting()
        self._begin_waiting()
        return place

    def give_back(self, place: Place) -> None:
        """Takes a place back from its request and gives it to the next one that waits."""
        if place.is_taken:
            place.is_taken = False
            self.in_use -= 1
            metrics.HTTP_IN_FLIGHT.set(self.in_use, self._group.name)
            self._begin_waiting()
        elif place.is_waiting:
            self._queue.remove(place.network, place)
            self._end(place, ClientLeft())

    def _begin_waiting(self) -> None:
        """Lets the next request that waits begin: now, in the next turn of the event loop, or when
        a place is given back."""
        if self.in_use < self._unpaced:
            self._take_next()
        elif self._queue and self.in_use < self._group.at_once and not self._begins_next_turn:
            self._begins_next_turn = True
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._begins_next_turn = False
        for _ in range(min(self._group.per_turn, self._group.at_once - self.in_use)):
            self._take_next()
        self._begin_waiting()

    def _take(self, place: Place) -> None:
        place.is_taken, place.is_waiting = True, False
        self.in_use += 1
        metrics.HTTP_IN_FLIGHT.set(self.in_use, self._group.name)

    def _take_next(self) -> None:
        place = self._queue.take()
        if place is not None:
            self._take(place)
            self._wake(place)

    def _wait(self, place: Place) -> None:
        loop = asyncio.get_running_loop()
        place.is_waiting, place.waits_since = True, loop.time()
        place.turn = loop.create_future()
        call_later = self._call_later or loop.call_later
        place.timer = call_later(self._group.longest_wait_seconds, lambda: self._expire(place))

    def _expire(self, place: Place) -> None:
        """Refuses a request that has waited too long."""
        if place.is_waiting:
            self._queue.remove(place.network, place)
            self._refuse(place, "wait")

    def _refuse(self, place: Place, reason: Reason) -> None:
        metrics.SHED.count(self._group.name, reason)
        seconds = RETRY_AFTER_SECONDS[self._random.token_bytes(1)[0] % len(RETRY_AFTER_SECONDS)]
        self._end(place, Shed(self._group, reason, seconds))

    def _end(self, place: Place, refusal: Shed | ClientLeft) -> None:
        place.is_waiting, place.refusal = False, refusal
        self._wake(place)

    def _wake(self, place: Place) -> None:
        if place.turn is None or place.timer is None:  # it did not wait
            return
        place.timer.cancel()
        waited = asyncio.get_running_loop().time() - place.waits_since
        metrics.HTTP_WAIT.observe(waited, self._group.name)
        self._show_waiting()
        if not place.turn.done():  # its task may have been cancelled
            place.turn.set_result(None)

    def _show_waiting(self) -> None:
        metrics.HTTP_WAITING.set(self.waiting, self._group.name)


class Admission:
    """The places of all groups in this process."""

    def __init__(self, random: Random, groups: Sequence[Group] = GROUPS) -> None:
        self._places = {group.name: GroupPlaces(group, random) for group in groups}

    def places_of(self, group: Group) -> GroupPlaces:
        """Returns the places of a group."""
        return self._places[group.name]


def report(shed: Shed) -> None:
    """Logs that a request was refused: one line a second for each group."""
    event = f"requests refused for overload: {shed.group.name}"
    _log.log("warning", event, {"reason": shed.reason}, limit=_LINES_PER_SECOND)
