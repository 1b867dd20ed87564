"""Counts of requests per minute, in this process."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from idp.limits.throttled import seconds_until

WINDOW: Final = timedelta(minutes=1)
MAX_KEYS: Final = 10_000  # keys: a few megabytes at most


class _Window(Struct):
    ends_at: datetime
    n: int = 0


class RequestCounts:
    """Counts by key, each for a minute from its first request.

    They are not in the store, so that a flood of requests causes no writes. Beyond `MAX_KEYS` keys
    those not used for longest are dropped.
    """

    def __init__(self) -> None:
        self._windows: OrderedDict[tuple[str, str], _Window] = OrderedDict()

    def wait_seconds(self, now: datetime, kind: str, key: str, limit: int) -> int:
        """Counts a request of this kind under the key, and returns 0; if there were `limit` in the
        minute already, counts nothing and returns after how many seconds to try again."""
        window = self._windows.get((kind, key))
        if window is None or not now < window.ends_at <= now + WINDOW:
            window = self._begin(now, (kind, key))
        self._windows.move_to_end((kind, key))
        if window.n >= limit:
            return seconds_until(window.ends_at, now)
        window.n += 1
        return 0

    def _begin(self, now: datetime, key: tuple[str, str]) -> _Window:
        self._windows.pop(key, None)
        if len(self._windows) >= MAX_KEYS:
            self._windows.popitem(last=False)
        window = self._windows[key] = _Window(now + WINDOW)
        return window
