"""Token buckets: limits on the rate of an action, by time."""

from __future__ import annotations

from datetime import datetime
from typing import Final

_MAX_KEYS: Final = 10_000  # a few megabytes at most


class TokenBucket:
    """Allows `burst` actions at once, and `per_second` in the long run."""

    def __init__(self, burst: int, per_second: float) -> None:
        self._burst = float(burst)
        self._per_second = per_second
        self._left = self._burst
        self._asked_at: datetime | None = None

    def allows(self, now: datetime) -> bool:
        """Returns whether another action is allowed now, and counts it if so.

        If the clock was set back, no time has passed.
        """
        if self._asked_at is not None:
            passed = max(0.0, (now - self._asked_at).total_seconds())
            self._left = min(self._burst, self._left + passed * self._per_second)
        self._asked_at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class TokenBuckets:
    """A token bucket for each key.

    Beyond `max_keys` keys the oldest are dropped, which then begin with a full burst again.
    """

    def __init__(self, *, burst: int, per_second: float, max_keys: int = _MAX_KEYS) -> None:
        self._burst, self._per_second = burst, per_second
        self._max_keys = max_keys
        self._buckets: dict[str, TokenBucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def allows(self, now: datetime, key: str, factor: int = 1) -> bool:
        """Returns whether another action for this key is allowed now, and counts it if so.
        `factor` multiplies the limits of the key; it has to be the same each time."""
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= self._max_keys:
                del self._buckets[next(iter(self._buckets))]
            bucket = TokenBucket(self._burst * factor, self._per_second * factor)
            self._buckets[key] = bucket
        return bucket.allows(now)


class KeyedTokenBucket:
    """A token bucket for each key and one for all keys together, so that one key can't use up the
    rest."""

    def __init__(self, *, burst: int, per_second: float, all_burst: int, all_per_second: float):
        self._buckets = TokenBuckets(burst=burst, per_second=per_second, max_keys=1_000)
        self._all = TokenBucket(all_burst, all_per_second)

    def allows(self, now: datetime, key: str) -> bool:
        """Returns whether another action for this key is allowed now, and counts it if so."""
        return self._buckets.allows(now, key) and self._all.allows(now)
