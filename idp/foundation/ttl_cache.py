"""A cache of values that every page needs, at most 5 s old, in each process."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeVar, cast

MAX_AGE_SECONDS: Final = 5.0
_MAX_VALUES: Final = 1000

T = TypeVar("T")


class _CachedValue(NamedTuple):
    value: Any
    read_at: float
    read_clock: datetime


class TtlCache:
    """A cache of values by name; a value that is too old is read again when it is requested."""

    def __init__(self) -> None:
        self._values: dict[Hashable, _CachedValue] = {}

    async def get(self, name: Hashable, now: datetime, read: Callable[[], Awaitable[T]]) -> T:
        """Returns the value of this name: from the cache, or, if it is missing or older than 5 s,
        from `read`, whose result is then cached.

        Raises what `read` raises.
        """
        values = self._values
        cached = values.get(name)
        if cached is not None and _is_fresh(cached, now):
            return cast(T, cached.value)
        began_at = time.monotonic()
        value = await read()
        if len(values) >= _MAX_VALUES:
            values.clear()
        values[name] = _CachedValue(value, began_at, now)
        return value

    def forget(self) -> None:
        """Removes all values, because this process has changed some of them in the store, and
        caches none of those that are being read."""
        self._values = {}


def _is_fresh(cached: _CachedValue, now: datetime) -> bool:
    """Checks the machine's monotonic time, and a clock that may have been set."""
    is_clock_near = abs(now - cached.read_clock) <= timedelta(seconds=MAX_AGE_SECONDS)
    return is_clock_near and time.monotonic() - cached.read_at <= MAX_AGE_SECONDS
