"""A bound on how often something is done, however often it is asked for."""

from __future__ import annotations

from datetime import datetime


class Pace:
    """Lets `burst` through at once, and `per_second` in the long run."""

    def __init__(self, burst: int, per_second: float) -> None:
        self._burst = float(burst)
        self._per_second = per_second
        self._left = self._burst
        self._asked_at: datetime | None = None

    def allows(self, now: datetime) -> bool:
        """Whether one more is let through now. A clock that was set back gives nothing."""
        if self._asked_at is not None:
            passed = max(0.0, (now - self._asked_at).total_seconds())
            self._left = min(self._burst, self._left + passed * self._per_second)
        self._asked_at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
