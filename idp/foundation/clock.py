"""Time: the one place that reads the machine's clock, so that tests can set it."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time. Everything that judges a lifetime asks one that was handed to it."""

    def now(self) -> datetime:
        """The instant in UTC, cut to milliseconds as the store keeps it."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The instant in UTC, cut to milliseconds as the store keeps it."""
        return datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)


class ShiftedClock(SystemClock):
    """The machine's clock as far ahead as a test has set it."""

    ahead = timedelta()

    def now(self) -> datetime:
        """The instant in UTC, cut to milliseconds as the store keeps it."""
        return super().now() + self.ahead
