"""Counts of refused tokens and secrets in this process, between two writes to the store."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

WINDOW: Final = timedelta(minutes=10)
MAX_KEYS: Final = 10_000


class RefusedCount:
    """The count of one key until `resets_at`: `stored`, the store's sum as it was last read, and
    `local`, the number that this process has counted since."""

    __slots__ = ("local", "resets_at", "stored")

    def __init__(self, resets_at: datetime) -> None:
        self.stored = 0
        self.local = 0
        self.resets_at = resets_at

    @property
    def sum(self) -> int:
        return self.stored + self.local


class RefusedCounts:
    """Counts by key, at most `MAX_KEYS`; beyond that those not used for longest are dropped.

    A dropped count is restored by the next write, because the store holds the sum.
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[str, RefusedCount] = OrderedDict()
        self._changed: set[str] = set()

    def __len__(self) -> int:
        return len(self._counts)

    def find(self, key: str, now: datetime) -> RefusedCount | None:
        """Returns the key's counts in this window, without counting; None if there are none."""
        refused = self._counts.get(key)
        return refused if refused is not None and refused.resets_at > now else None

    def count(self, key: str, now: datetime, limit: int) -> RefusedCount:
        """Increments the local count of the key and returns the key's counts.

        Does not increment if the sum is past `limit` already, so that further attempts cause no
        write.
        """
        refused = self.find(key, now) or self._begin(key, now)
        self._counts.move_to_end(key)
        if refused.sum <= limit:
            refused.local += 1
            self._changed.add(key)
        return refused

    def _begin(self, key: str, now: datetime) -> RefusedCount:
        self._counts.pop(key, None)
        if len(self._counts) >= MAX_KEYS:
            oldest, _ = self._counts.popitem(last=False)
            self._changed.discard(oldest)
        self._counts[key] = count = RefusedCount(now + WINDOW)
        return count

    def take(self, now: datetime) -> list[tuple[str, int]]:
        """Returns the increments that the caller has to add to the store's sums: (key, number) for
        each key that was counted since the last call.

        Afterwards the caller calls `add_stored` for each, or `give_back`.
        """
        changed, self._changed = self._changed, set()
        counts = [
            (key, count.local) for key, count in self._each(changed) if count.resets_at > now
        ]
        for _, count in self._each(changed):
            count.stored, count.local = count.sum, 0
        return counts

    def add_stored(self, key: str, n: int, resets_at: datetime) -> None:
        """Sets the store's sum of a key (`n`) and the end of its window, as the write has returned
        them."""
        count = self._counts.get(key)
        if count is not None:
            count.stored, count.resets_at = n, resets_at

    def give_back(self, key: str, increment: int) -> None:
        """Adds `increment` to the key's local count again, because the write of these increments
        has failed, so that the next write includes them."""
        count = self._counts.get(key)
        if count is not None:
            count.stored, count.local = max(0, count.stored - increment), count.local + increment
            self._changed.add(key)

    def _each(self, keys: set[str]) -> list[tuple[str, RefusedCount]]:
        pairs = [(key, self._counts.get(key)) for key in keys]
        return [(key, count) for key, count in pairs if count is not None]
