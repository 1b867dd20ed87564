"""Time: the only module that reads the machine's clock, so that tests can set the time."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

_MAX_CLOCK_DIFFERENCE: Final = timedelta(seconds=60)  # that the clocks of machines may have


class Clock(Protocol):
    """The source of the current time. Code that depends on time receives a clock as an
    argument."""

    def now(self) -> datetime:
        """Returns the current instant in UTC, truncated to milliseconds as in the store."""


def nanoseconds() -> int:
    """Returns the machine's time in nanoseconds since the epoch, for measurements only: tests do
    not set it."""
    return time.time_ns()


def is_past(at: datetime, now: datetime, max_ahead: timedelta) -> bool:
    """Returns whether the instant `at`, which was at most `max_ahead` in the future when it was
    set, is past.

    An instant that is further ahead was set before the clock was set back, and is treated as past:
    otherwise, what waits for it would wait for as long as the clock was ahead.
    """
    return not now < at <= now + max_ahead + _MAX_CLOCK_DIFFERENCE


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Returns the current instant in UTC, truncated to milliseconds as in the store."""
        return datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)


class ShiftedClock(SystemClock):
    """The machine's clock, ahead by the time that a test has set."""

    ahead = timedelta()

    def now(self) -> datetime:
        """Returns the current instant in UTC, truncated to milliseconds as in the store."""
        return super().now() + self.ahead
