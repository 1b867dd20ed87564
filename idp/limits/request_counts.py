"""How often something was asked for within a minute, as this process has counted it."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

WINDOW: Final = timedelta(minutes=1)
MOST: Final = 10_000  # keys: a few megabytes at the utmost


class _Window(Struct):
    ends_at: datetime
    n: int = 0


class RequestCounts:
    """Counts by key, each for a minute from its first request on.

    They are not in the store: what they are there for is that a flood writes nothing. Of more than
    10,000 keys at once the oldest are forgotten.
    """

    def __init__(self) -> None:
        self._windows: dict[tuple[str, str], _Window] = {}

    def wait_seconds(self, now: datetime, kind: str, key: str, most: int) -> int:
        """Count one more; after how many seconds to come again, 0 as long as there are not more
        than `most` in the minute."""
        window = self._windows.get((kind, key))
        if window is None or not now < window.ends_at <= now + WINDOW:
            window = self._begin(now, (kind, key))
        if window.n >= most:
            return max(1, math.ceil((window.ends_at - now).total_seconds()))
        window.n += 1
        return 0

    def _begin(self, now: datetime, key: tuple[str, str]) -> _Window:
        self._windows.pop(key, None)
        if len(self._windows) >= MOST:
            del self._windows[next(iter(self._windows))]
        window = self._windows[key] = _Window(now + WINDOW)
        return window
