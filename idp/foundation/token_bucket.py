"""Token buckets: limits on the rate of an action, by time."""

from __future__ import annotations

from datetime import datetime
from typing import Final

_MAX_KEYS: Final = 1_000


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


class KeyedTokenBucket:
    """A token bucket for each key and one for all keys together, so that one key can't use up what
    all may do.

    Beyond `_MAX_KEYS` keys the oldest are dropped, which then begin with a full burst again.
    """

    def __init__(self, *, burst: int, per_second: float, all_burst: int, all_per_second: float):
        self._burst, self._per_second = burst, per_second
        self._all = TokenBucket(all_burst, all_per_second)
        self._buckets: dict[str, TokenBucket] = {}

    def allows(self, now: datetime, key: str) -> bool:
        """Returns whether another action for this key is allowed now, and counts it if so."""
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= _MAX_KEYS:
                del self._buckets[next(iter(self._buckets))]
            bucket = self._buckets[key] = TokenBucket(self._burst, self._per_second)
        return bucket.allows(now) and self._all.allows(now)
