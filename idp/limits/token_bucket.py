"""Token buckets: limits on the rate of an action, by time."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from typing import Final

_MAX_KEYS: Final = 10_000  # a few megabytes at most


class TokenBucket:
    """Allows `burst` actions in immediate succession, and `per_second` on average."""

    def __init__(self, burst: int, per_second: float) -> None:
        self._burst = float(burst)
        self._per_second = per_second
        self._tokens = self._burst
        self._updated_at: datetime | None = None

    def allows(self, now: datetime) -> bool:
        """Returns whether another action is allowed now, and counts it if so.

        If the clock was set back, no time has passed.
        """
        if self._updated_at is not None:
            elapsed_seconds = max(0.0, (now - self._updated_at).total_seconds())
            self._tokens = min(self._burst, self._tokens + elapsed_seconds * self._per_second)
        self._updated_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class TokenBuckets:
    """A token bucket for each key.

    Beyond `max_keys` keys those that were not used for longest are dropped; these begin with a
    full burst again.
    """

    def __init__(self, *, burst: int, per_second: float, max_keys: int = _MAX_KEYS) -> None:
        self._burst, self._per_second = burst, per_second
        self._max_keys = max_keys
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def allows(self, now: datetime, key: str, factor: int = 1) -> bool:
        """Returns whether another action for this key is allowed now, and counts it if so.
        `factor` multiplies the limits of the key; it has to be the same each time."""
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= self._max_keys:
                self._buckets.popitem(last=False)
            bucket = TokenBucket(self._burst * factor, self._per_second * factor)
            self._buckets[key] = bucket
        self._buckets.move_to_end(key)
        return bucket.allows(now)


class ClientTokenBucket:
    """A token bucket for each client (`network_keys.client_key`), and one for all together, so
    that no client can use up the limits of others."""

    def __init__(self, *, burst: int, per_second: float, all_burst: int, all_per_second: float):
        self._buckets = TokenBuckets(burst=burst, per_second=per_second, max_keys=1_000)
        self._all = TokenBucket(all_burst, all_per_second)

    def allows(self, now: datetime, client: str) -> bool:
        """Returns whether another action of this client is allowed now, and counts it if so."""
        return self._buckets.allows(now, client) and self._all.allows(now)
