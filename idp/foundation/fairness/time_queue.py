"""A bounded queue that is fair between clients by the time that their work takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from idp.foundation.fairness.fair_queue import Site
from idp.foundation.network_keys import site_of

T = TypeVar("T")

_MAX_REMEMBERED: Final = 10_000  # sites without waiting items


class TimeQueue(Generic[T]):
    """Items that wait for their turn, at most `limit`, each with the seconds that its work is
    expected to take. Items must be hashable and distinct.

    Each item has the key of a network (`network_key`). Next is the site that will have used least
    time once its next item is done: so the work of a client who has used little, and cheap work,
    waits for little dear work of others. Of a site the networks take turns. Time that a site
    did not use while it had nothing to do is not saved up: virtual time goes on meanwhile
    (start-time fair queueing; Goyal, Vin and Cheng, 1996).

    When the queue is full, an item is dropped: of the site whose items take most time, the newest
    item of its network with the most.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seconds: dict[T, float] = {}
        self._sites: dict[str, Site[T]] = {}
        self._waiting: defaultdict[str, float] = defaultdict(
            float
        )  # the seconds of the waiting items, by site
        self._used: dict[str, float] = {}  # the virtual time up to which a site has had its share
        self._now = 0.0  # virtual time

    def __len__(self) -> int:
        return len(self._seconds)

    def has_room(self, network: str, seconds: float) -> bool:
        """Returns whether an item that is added under this network now would not be dropped."""
        if len(self._seconds) < self._limit:
            return True
        most = max(self._waiting.values(), default=0.0)
        return self._waiting.get(site_of(network), 0.0) + seconds < most

    def add(self, network: str, item: T, seconds: float) -> T | None:
        """Adds an item under a network. Returns the item that was dropped because the queue is
        full, which may be the new one; None if there was room."""
        if not self.has_room(network, seconds):
            return item
        dropped = self._make_room() if len(self._seconds) >= self._limit else None
        self._append(site_of(network), network, item, seconds)
        return dropped

    def take(self, may_take: Callable[[T], bool]) -> T | None:
        """Removes and returns the item whose turn it is, of those that `may_take` accepts; None if
        none waits. `begin` has to be called with what was taken."""
        next_items = {key: site.next_item(may_take) for key, site in self._sites.items()}
        ends = {
            key: self._used[key] + self._seconds[item]
            for key, item in next_items.items()
            if item is not None
        }
        if not ends:
            return None
        key = min(ends, key=lambda each: ends[each])
        item = self._sites[key].take(may_take)
        if item is not None:
            self._count_removal(key, item)
        return item

    def remove(self, network: str, item: T) -> None:
        """Removes an item. Has no effect if it does not wait any more."""
        key = site_of(network)
        site = self._sites.get(key)
        if site is not None and site.remove(network, item):
            self._count_removal(key, item)

    def begin(self, network: str, seconds: float) -> None:
        """Counts work of a network that begins now, for the time that it is expected to take."""
        key = site_of(network)
        begun_at = self._share_of(key)
        self._used[key] = begun_at + seconds
        self._now = max(self._now, begun_at)

    def end(self, network: str, expected: float, measured: float) -> None:
        """Counts work that has ended for the seconds that it took instead of those that were
        expected."""
        key = site_of(network)
        self._used[key] = self._used.get(key, self._now) + measured - expected
        # So that new sites, which begin at this time, do not precede the others for ever.
        self._now += measured / (len(self._sites) + 1)

    def _share_of(self, key: str) -> float:
        """Returns the virtual time from which on the site's next share counts."""
        used = self._used.get(key, self._now)
        return used if key in self._sites else max(used, self._now)

    def _append(self, key: str, network: str, item: T, seconds: float) -> None:
        if key not in self._sites:
            self._forget_idle()
            self._used[key] = self._share_of(key)
            self._sites[key] = Site()
        self._sites[key].append(network, item)
        self._seconds[item] = seconds
        self._waiting[key] += seconds

    def _make_room(self) -> T:
        key = max(self._waiting, key=lambda each: self._waiting[each])
        item = self._sites[key].drop_newest()
        self._count_removal(key, item)
        return item

    def _count_removal(self, key: str, item: T) -> None:
        self._waiting[key] -= self._seconds.pop(item)
        if not self._sites[key].count:
            del self._sites[key], self._waiting[key]

    def _forget_idle(self) -> None:
        """Forgets sites without waiting items if there are too many: at first those whose share is
        due again."""
        if len(self._used) - len(self._sites) < _MAX_REMEMBERED:
            return
        late = {key: used for key, used in self._used.items() if used > self._now}
        kept = late if len(late) < _MAX_REMEMBERED else {}
        self._used = kept | {key: self._used[key] for key in self._sites}
