"""A bounded queue that is fair between clients by the time that their work takes."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from idp.limits.fair_queue import first

T = TypeVar("T")

_MAX_REMEMBERED: Final = 10_000  # clients without waiting items


class TimeQueue(Generic[T]):
    """Items that wait for their turn, at most `limit`, each with the seconds that its work is
    expected to take. Items must be hashable and distinct.

    Each item has the key of a client (`network_keys.client_key`). Next is the client who will have
    used least time once its next item is done: so the work of a client who has used little, and
    cheap work, waits for little expensive work of others. Time that a client did not use while it
    had nothing to do is not saved up: virtual time goes on meanwhile (start-time fair queueing;
    Goyal, Vin and Cheng, 1996).

    When the queue is full, the newest item of the client whose items take most time is dropped.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seconds: dict[T, float] = {}
        self._clients: dict[str, OrderedDict[T, None]] = {}
        # The seconds of the waiting items, by client.
        self._waiting: defaultdict[str, float] = defaultdict(float)
        self._used: dict[str, float] = {}  # the virtual time up to which a client had its share
        self._now = 0.0  # virtual time

    def __len__(self) -> int:
        return len(self._seconds)

    def has_room(self, client: str, seconds: float) -> bool:
        """Returns whether an item that is added for this client now would not be dropped."""
        if len(self._seconds) < self._limit:
            return True
        most = max(self._waiting.values(), default=0.0)
        return self._waiting.get(client, 0.0) + seconds < most

    def add(self, client: str, item: T, seconds: float) -> T | None:
        """Adds an item of a client. Returns the item that was dropped because the queue is full,
        which may be the new one; None if there was room."""
        if not self.has_room(client, seconds):
            return item
        dropped = self._make_room() if len(self._seconds) >= self._limit else None
        if client not in self._clients:
            self._forget_idle()
            self._used[client] = self._share_of(client)
            self._clients[client] = OrderedDict()
        self._clients[client][item] = None
        self._seconds[item] = seconds
        self._waiting[client] += seconds
        return dropped

    def take(self, may_take: Callable[[T], bool]) -> T | None:
        """Removes and returns the item whose turn it is, of those that `may_take` accepts; None if
        none waits. `begin` has to be called with what was taken."""
        next_items = {client: first(items, may_take) for client, items in self._clients.items()}
        ends = {
            client: self._used[client] + self._seconds[item]
            for client, item in next_items.items()
            if item is not None
        }
        if not ends:
            return None
        client = min(ends, key=lambda each: ends[each])
        item = next_items[client]
        if item is not None:
            self.remove(client, item)
        return item

    def remove(self, client: str, item: T) -> None:
        """Removes an item. Has no effect if it does not wait any more."""
        items = self._clients.get(client)
        if items is None or item not in items:
            return
        del items[item]
        self._waiting[client] -= self._seconds.pop(item)
        if not items:
            del self._clients[client], self._waiting[client]

    def begin(self, client: str, seconds: float) -> None:
        """Counts work of a client that begins now, for the time that it is expected to take."""
        begun_at = self._share_of(client)
        self._used[client] = begun_at + seconds
        self._now = max(self._now, begun_at)

    def end(self, client: str, expected: float, measured: float) -> None:
        """Counts work that has ended for the seconds that it took instead of those that were
        expected."""
        self._used[client] = self._used.get(client, self._now) + measured - expected
        # So that new clients, which begin at this time, do not precede the others for ever.
        self._now += measured / (len(self._clients) + 1)

    def _share_of(self, client: str) -> float:
        """Returns the virtual time from which on the client's next share counts."""
        used = self._used.get(client, self._now)
        return used if client in self._clients else max(used, self._now)

    def _make_room(self) -> T:
        client = max(self._waiting, key=lambda each: self._waiting[each])
        item = next(reversed(self._clients[client]))
        self.remove(client, item)
        return item

    def _forget_idle(self) -> None:
        """Forgets clients without waiting items if there are too many: at first those whose share
        is due again."""
        if len(self._used) - len(self._clients) < _MAX_REMEMBERED:
            return
        late = {client: used for client, used in self._used.items() if used > self._now}
        kept = late if len(late) < _MAX_REMEMBERED else {}
        self._used = kept | {client: self._used[client] for client in self._clients}
