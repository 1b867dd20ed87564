"""A bounded queue that is fair between clients."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from idp.foundation.network_keys import site_of

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Items that wait for their turn, at most `limit`. Items must be hashable and distinct.

    Each item has the key of a network (`network_key`). The sites of these networks take turns, and
    within a site its networks, so that neither a network nor a customer with many networks can
    delay others; of a network the oldest item is first. When the queue is full, an item is
    dropped: of the site with the most items, the newest item of its network with the most. So a
    client may use all the room that no other client needs.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0
        self._sites: OrderedDict[str, Site[T]] = OrderedDict()  # the next one first

    def __len__(self) -> int:
        return self._count

    def has(self, network: str) -> bool:
        """Returns whether an item of the network's site waits."""
        return bool(self._sites) and site_of(network) in self._sites

    def has_room(self, network: str) -> bool:
        """Returns whether an item that is added under this network now would not be dropped."""
        if self._count < self._limit:
            return True
        site = self._sites.get(site_of(network))
        return self._has_fewer(site) or (site is not None and site.has_fewer(network))

    def add(self, network: str, item: T) -> T | None:
        """Adds an item under a network. Returns the item that was dropped because the queue is
        full, which may be the new one; None if there was room."""
        if self._count < self._limit:
            self._append(network, item)
            return None
        if not self.has_room(network):
            return item
        dropped = self._make_room(network)
        self._append(network, item)
        return dropped

    def take(self, may_take: Callable[[T], bool] | None = None) -> T | None:
        """Removes and returns the item whose turn it is, of those that `may_take` accepts; None if
        none waits."""
        for key, site in self._sites.items():
            item = site.take(may_take)
            if item is not None:
                self._sites.move_to_end(key)
                self._count_removal(key, site)
                return item
        return None

    def remove(self, network: str, item: T) -> None:
        """Removes an item. Has no effect if it does not wait any more."""
        key = site_of(network)
        site = self._sites.get(key)
        if site is not None and site.remove(network, item):
            self._count_removal(key, site)

    def _append(self, network: str, item: T) -> None:
        key = site_of(network)
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = Site()
        site.append(network, item)
        self._count += 1

    def _has_fewer(self, site: Site[T] | None) -> bool:
        """Whether a site would have fewer items than the one with the most, with one item more."""
        max_count = max((each.count for each in self._sites.values()), default=0)
        return (site.count if site is not None else 0) + 1 < max_count

    def _make_room(self, network: str) -> T:
        """Removes and returns the item that makes room for one of this network."""
        key = site_of(network)
        if self._has_fewer(self._sites.get(key)):
            key = max(self._sites, key=lambda each: self._sites[each].count)
        site = self._sites[key]
        item = site.drop_newest()
        self._count_removal(key, site)
        return item

    def _count_removal(self, key: str, site: Site[T]) -> None:
        self._count -= 1
        if not site.count:
            del self._sites[key]


class Site(Generic[T]):
    """The waiting items of one site, by network."""

    def __init__(self) -> None:
        self.count = 0
        # The networks, the next one first, each with its items in the order of their arrival.
        self._networks: OrderedDict[str, OrderedDict[T, None]] = OrderedDict()

    def has_fewer(self, network: str) -> bool:
        """Returns whether a network would have fewer items than the one with the most, with one
        item more."""
        max_count = max(map(len, self._networks.values()))
        return len(self._networks.get(network, ())) + 1 < max_count

    def append(self, network: str, item: T) -> None:
        """Adds an item as the newest of its network."""
        self._networks.setdefault(network, OrderedDict())[item] = None
        self.count += 1

    def take(self, may_take: Callable[[T], bool] | None) -> T | None:
        """Removes and returns the item whose turn it is, of those that `may_take` accepts."""
        for network, items in self._networks.items():
            item = _first(items, may_take)
            if item is not None:
                del items[item]
                self._networks.move_to_end(network)
                self._count_removal(network, items)
                return item
        return None

    def next_item(self, may_take: Callable[[T], bool]) -> T | None:
        """Returns the item that `take` would remove."""
        first_items = (_first(items, may_take) for items in self._networks.values())
        return next((each for each in first_items if each is not None), None)

    def remove(self, network: str, item: T) -> bool:
        """Removes an item; returns False if it is not there."""
        items = self._networks.get(network)
        if items is None or item not in items:
            return False
        del items[item]
        self._count_removal(network, items)
        return True

    def drop_newest(self) -> T:
        """Removes and returns the newest item of the network with the most items."""
        network = max(self._networks, key=lambda each: len(self._networks[each]))
        items = self._networks[network]
        item, _ = items.popitem()
        self._count_removal(network, items)
        return item

    def _count_removal(self, network: str, items: OrderedDict[T, None]) -> None:
        self.count -= 1
        if not items:
            del self._networks[network]


def _first(items: OrderedDict[T, None], may_take: Callable[[T], bool] | None) -> T | None:
    return next((each for each in items if may_take is None or may_take(each)), None)
