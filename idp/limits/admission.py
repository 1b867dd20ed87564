"""Admission: how many requests are answered concurrently, which ones wait, and which ones are
refused.

Each route belongs to a group, which has a number of slots in this process. A request takes a
slot before its body is read, and releases it when it has been answered. Without a free slot it
waits: the networks of the clients take turns. When too many wait, the newest request of the
network with most waiting ones is refused, and so is every request that has waited too long. Where
requests may take long, one caller has at most half of the slots: a network, and a user who has
authenticated.

The requests that are being answered share one thread. So that no client fills a turn of the event
loop, its requests beyond a few wait for a later turn, although there are free slots
(`idp/limits/turns.py`).

Refused requests get status 503 with a random Retry-After, so that they do not all return at once.
Status 429 is only for a client that exceeds a limit of its own. Nothing of this is stored.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections import Counter, deque
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from idp.foundation import logs, metrics
from idp.foundation.clock import Timer
from idp.foundation.errors import Busy
from idp.foundation.randomness import Random
from idp.limits.fair_queue import FairQueue
from idp.limits.requester import Requester
from idp.limits.turns import Turns

RETRY_AFTER_SECONDS: Final = range(1, 4)


class RequestGroup(Struct, frozen=True):
    """Routes that share slots: how many of their requests are answered concurrently in a process,
    how many may wait, and for how long; and how many of the slots one caller may have."""

    name: str
    max_running: int
    max_waiting: int
    max_wait_seconds: float
    max_of_caller: int = sys.maxsize


HEALTH: Final = RequestGroup(
    "health", max_running=sys.maxsize, max_waiting=sys.maxsize, max_wait_seconds=math.inf
)
PUBLIC: Final = RequestGroup("public", max_running=128, max_waiting=512, max_wait_seconds=1)
PROTOCOL: Final = RequestGroup("protocol", max_running=64, max_waiting=512, max_wait_seconds=2)
PAGES: Final = RequestGroup("pages", max_running=64, max_waiting=512, max_wait_seconds=2)
MANAGEMENT: Final = RequestGroup(
    "management", max_running=16, max_waiting=128, max_wait_seconds=5, max_of_caller=8
)
BULK: Final = RequestGroup(
    "bulk", max_running=4, max_waiting=8, max_wait_seconds=5, max_of_caller=2
)
GROUPS: Final = (HEALTH, PUBLIC, PROTOCOL, PAGES, MANAGEMENT, BULK)

Reason = Literal["queue", "wait"]
_LINES_PER_SECOND: Final = 1
_log: Final = logs.logger(__name__)


class Overloaded(Busy):
    """The request is refused because the process is overloaded: its group's queue is full, or it
    has waited too long. Nothing was done."""

    def __init__(self, group: RequestGroup, reason: Reason, retry_after_seconds: int) -> None:
        super().__init__(
            "the service is busy, repeat the request later",
            retry_after_seconds=retry_after_seconds,
        )
        self.group = group
        self.reason = reason


class Abandoned(Exception):
    """The client has disconnected while its request waited; it is not answered."""


class Slot(Requester, eq=False):
    """The slot of one request in its group: waited for, taken, or released.

    `caller` is the id of the user who has authenticated, empty before that. `refusal` is the error
    of a request that gets no slot; `turn` is done when that is decided.
    """

    slots: GroupSlots | None = None
    caller: str = ""
    refusal: Overloaded | Abandoned | None = None
    is_taken: bool = False
    is_waiting: bool = False
    turn: asyncio.Future[None] | None = None
    waiting_since: float = 0.0

    def begin_waiting(self, now: float) -> None:
        """Makes `wait` block until `turn` is done. The waiting began at `now`."""
        self.turn, self.waiting_since = asyncio.get_running_loop().create_future(), now

    async def wait(self) -> None:
        """Returns when the slot is taken. Raises Overloaded, and Abandoned after
        `release`."""
        if self.turn is not None:
            await self.turn
        if self.refusal is not None:
            raise self.refusal

    def release(self) -> None:
        """Lets another request have the slot, or ends the waiting for it; a second time has no
        effect."""
        is_unanswered = self.turn is not None and not self.turn.done()
        if self.slots is not None and (self.is_taken or self.is_waiting or is_unanswered):
            self.slots.release(self)

    def wait_elsewhere(self) -> None:
        self.release()


class GroupSlots:
    """The slots of one group in this process."""

    def __init__(self, group: RequestGroup, random: Random, turns: Turns, timer: Timer) -> None:
        self._group = group
        self._random = random
        self._turns = turns
        self._timer = timer
        self._queue: FairQueue[Slot] = FairQueue(group.max_waiting)
        # Waiting requests, the oldest first, and some that have waited.
        self._waits: deque[Slot] = deque()
        self._refused: deque[Slot] = deque()  # refused requests that are not answered yet
        self._is_expiry_set = False
        self._is_shared = group.max_of_caller < group.max_running
        self._by_caller = Counter[str]()  # the slots that are taken, by client and by caller
        self.in_use = 0

    @property
    def waiting(self) -> int:
        """The number of waiting requests."""
        return len(self._queue)

    def enter(self, client: str, caller: str = "") -> Slot:
        """Returns the slot of a new request of this client (`network_keys.client_key`): taken,
        waiting or refused."""
        slot = Slot(client, slots=self, caller=caller)
        if self._may_begin(slot):
            self._take(slot)
            return slot
        slot.begin_waiting(self._timer.monotonic())
        dropped = self._queue.add(client, slot)
        if dropped is not slot:
            self._wait(slot)
        if dropped is not None:
            self._refuse(dropped, "queue")
        if self.in_use < self._group.max_running:
            self._turns.wait(self._begin_next)
        return slot

    def release(self, slot: Slot) -> None:
        """Takes the slot from its request and gives it to the next waiting request."""
        if slot.is_taken:
            was_full = self.in_use >= self._group.max_running
            self._give_back(slot)
            if self._queue and (was_full or self._is_shared):
                self._turns.resume(self._begin_next)
        else:
            self._queue.remove(slot.key, slot)
            slot.is_waiting, slot.refusal = False, Abandoned()
            self._wake(slot)

    def assign(self, slot: Slot, caller: str) -> bool:
        """Counts a taken slot for the caller who has authenticated. Returns whether they may have
        it; if not, it must be released."""
        slot.caller = caller
        if not self._is_shared:
            return True
        self._by_caller[caller] += 1
        return self._by_caller[caller] <= self._group.max_of_caller

    def _may_begin(self, slot: Slot) -> bool:
        """Returns whether a request that arrives now takes its slot immediately: if one is free,
        no earlier request waits, and its turn of the event loop has room for it."""
        client = slot.key
        if self.in_use >= self._group.max_running or (self._waits and self._queue.has(client)):
            return False
        return self._may_take(slot) and self._turns.admit(client)

    def _may_take(self, slot: Slot) -> bool:
        """Returns whether the callers of a request may have one more slot."""
        most = self._group.max_of_caller
        return not self._is_shared or all(self._by_caller[each] < most for each in _keys(slot))

    def _begin_next(self) -> str | None:
        """Lets the next waiting request begin. Returns its client; None if no request waits or no
        slot is free."""
        if self.in_use >= self._group.max_running:
            return None
        slot = self._queue.take(self._may_take if self._is_shared else None)
        if slot is None:
            return None
        self._take(slot)
        self._wake(slot)
        return slot.key

    def _take(self, slot: Slot) -> None:
        slot.is_taken, slot.is_waiting = True, False
        self.in_use += 1
        if self._is_shared:
            self._by_caller.update(_keys(slot))

    def _give_back(self, slot: Slot) -> None:
        slot.is_taken = False
        self.in_use -= 1
        if self._is_shared:
            for each in _keys(slot):
                self._by_caller[each] -= 1
                if not self._by_caller[each]:
                    del self._by_caller[each]

    def _wait(self, slot: Slot) -> None:
        slot.is_waiting = True
        while self._waits and not self._waits[0].is_waiting:
            self._waits.popleft()
        self._waits.append(slot)
        self._expect_expiry(self._group.max_wait_seconds)

    def _expect_expiry(self, seconds: float) -> None:
        if not self._is_expiry_set and seconds < math.inf:
            self._is_expiry_set = True
            self._timer.call_later(seconds, self._expire)

    def _expire(self) -> None:
        """Refuses the requests that have waited too long."""
        self._is_expiry_set = False
        now = self._timer.monotonic()
        while self._waits:
            slot = self._waits[0]
            remaining_seconds = slot.waiting_since + self._group.max_wait_seconds - now
            if slot.is_waiting and remaining_seconds > 0:
                self._expect_expiry(remaining_seconds)
                return
            self._waits.popleft()
            if slot.is_waiting:
                self._queue.remove(slot.key, slot)
                self._refuse(slot, "wait")

    def _refuse(self, slot: Slot, reason: Reason) -> None:
        """Refuses a request, which is answered in a turn of the event loop that has room for it:
        of refusals, too, a client must not fill a turn."""
        metrics.SHED.count(self._group.name, reason)
        seconds = RETRY_AFTER_SECONDS[self._random.token_bytes(1)[0] % len(RETRY_AFTER_SECONDS)]
        slot.is_waiting, slot.refusal = False, Overloaded(self._group, reason, seconds)
        if not self._refused and self._turns.admit(slot.key):
            self._wake(slot)
        else:
            self._refused.append(slot)
            self._turns.wait(self._answer_refused)

    def _answer_refused(self) -> str | None:
        """Lets the next refused request be answered. Returns its client; None without such
        a request."""
        if not self._refused:
            return None
        slot = self._refused.popleft()
        self._wake(slot)
        return slot.key

    def _wake(self, slot: Slot) -> None:
        if slot.turn is None or slot.turn.done():  # its task may have been cancelled
            return
        metrics.HTTP_WAIT.observe(self._timer.monotonic() - slot.waiting_since, self._group.name)
        slot.turn.set_result(None)


def _keys(slot: Slot) -> list[str]:
    """Returns the callers for whom a slot counts."""
    return [slot.key, slot.caller] if slot.caller else [slot.key]


class Admission:
    """The slots of all groups in this process."""

    def __init__(
        self, random: Random, timer: Timer, groups: Sequence[RequestGroup] = GROUPS
    ) -> None:
        turns = Turns()
        # Health checks of a load balancer must not make other networks wait for a turn.
        own_turns = {HEALTH.name: Turns()}
        self._slots = {
            group.name: GroupSlots(group, random, own_turns.get(group.name, turns), timer)
            for group in groups
        }

    def slots_of(self, group: RequestGroup) -> GroupSlots:
        """Returns the slots of a group."""
        return self._slots[group.name]

    def measure(self) -> None:
        """Sets the metrics of requests in progress and of waiting ones, which is to be called
        regularly: to set them in each request would cost more than the admission.
        """
        for name, slots in self._slots.items():
            metrics.HTTP_IN_FLIGHT.set(slots.in_use, name)
            metrics.HTTP_WAITING.set(slots.waiting, name)


def report(shed: Overloaded) -> None:
    """Logs that a request was refused: one line a second for each group."""
    event = f"requests refused for overload: {shed.group.name}"
    _log.log("warning", event, {"reason": shed.reason}, limit=_LINES_PER_SECOND)
