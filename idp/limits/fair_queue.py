"""A bounded queue that is fair between clients."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Items that wait for their turn, at most `limit`. Items must be hashable and distinct.

    Each item has the key of a client (`network_keys.client_key`). The clients take turns; of a
    client the oldest item is first. When the queue is full, the newest item of the client with the
    most items is dropped. So a client may use all the room that no other client needs.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0
        # The clients, the next one first, each with its items in the order of their arrival.
        self._clients: OrderedDict[str, OrderedDict[T, None]] = OrderedDict()

    def __len__(self) -> int:
        return self._count

    def has(self, client: str) -> bool:
        """Returns whether an item of the client waits."""
        return client in self._clients

    def has_room(self, client: str) -> bool:
        """Returns whether an item that is added for this client now would not be dropped."""
        if self._count < self._limit:
            return True
        most = max(map(len, self._clients.values()), default=0)
        return len(self._clients.get(client, ())) + 1 < most

    def add(self, client: str, item: T) -> T | None:
        """Adds an item of a client. Returns the item that was dropped because the queue is full,
        which may be the new one; None if there was room."""
        if not self.has_room(client):
            return item
        dropped = None
        if self._count >= self._limit:
            busiest = max(self._clients, key=lambda each: len(self._clients[each]))
            dropped = next(reversed(self._clients[busiest]))
            self.remove(busiest, dropped)
        self._clients.setdefault(client, OrderedDict())[item] = None
        self._count += 1
        return dropped

    def take(self, may_take: Callable[[T], bool] | None = None) -> T | None:
        """Removes and returns the item whose turn it is, of those that `may_take` accepts; None if
        none waits."""
        for client, items in self._clients.items():
            item = first(items, may_take)
            if item is not None:
                self._clients.move_to_end(client)
                self.remove(client, item)
                return item
        return None

    def remove(self, client: str, item: T) -> None:
        """Removes an item. Has no effect if it does not wait any more."""
        items = self._clients.get(client)
        if items is None or item not in items:
            return
        del items[item]
        self._count -= 1
        if not items:
            del self._clients[client]


def first(items: OrderedDict[T, None], may_take: Callable[[T], bool] | None = None) -> T | None:
    """Returns the first of a client's items that `may_take` accepts; None if there is none."""
    return next((each for each in items if may_take is None or may_take(each)), None)
