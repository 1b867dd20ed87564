"""A bounded queue that is fair between clients."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Items that wait for their turn, at most `limit`. Items must be hashable and distinct.

    The keys, one for each client, take turns, so that one of them can't delay the others; of a key
    the oldest item is first. When the queue is full, the newest item of the key that has most is
    dropped, so that a client may use all the room that no other one needs.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0
        # The keys in the order of their turns, each with its items in the order of their arrival.
        self._waiting: OrderedDict[str, OrderedDict[T, None]] = OrderedDict()

    def __len__(self) -> int:
        return self._count

    def has_room(self, key: str) -> bool:
        """Returns whether an item that is added under this key now would not be dropped."""
        if self._count < self._limit:
            return True
        return len(self._waiting.get(key, ())) + 1 < self._most()

    def add(self, key: str, item: T) -> T | None:
        """Adds an item under a key. Returns the item that was dropped because the queue is full,
        which may be the new one; None if there was room."""
        if self._count < self._limit:
            self._append(key, item)
            return None
        if not self.has_room(key):
            return item
        dropped = self._drop_newest()
        self._append(key, item)
        return dropped

    def take(self) -> T | None:
        """Removes and returns the item whose turn it is; None if none waits."""
        if not self._waiting:
            return None
        key, items = next(iter(self._waiting.items()))
        item, _ = items.popitem(last=False)
        self._waiting.move_to_end(key)
        self._removed(key, items)
        return item

    def remove(self, key: str, item: T) -> None:
        """Removes an item. Has no effect if it does not wait any more."""
        items = self._waiting.get(key)
        if items is not None and item in items:
            del items[item]
            self._removed(key, items)

    def _append(self, key: str, item: T) -> None:
        self._waiting.setdefault(key, OrderedDict())[item] = None
        self._count += 1

    def _drop_newest(self) -> T:
        """Removes and returns the newest item of the key that has most."""
        key = max(self._waiting, key=lambda each: len(self._waiting[each]))
        items = self._waiting[key]
        item, _ = items.popitem()
        self._removed(key, items)
        return item

    def _removed(self, key: str, items: OrderedDict[T, None]) -> None:
        self._count -= 1
        if not items:
            del self._waiting[key]

    def _most(self) -> int:
        return max(map(len, self._waiting.values()), default=0)
