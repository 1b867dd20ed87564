"""Time: the only module that reads the machine's clock, so that tests can set the time, and the
timer for what has to wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

_MAX_CLOCK_DIFFERENCE: Final = timedelta(seconds=60)  # that the clocks of machines may have


class Clock(Protocol):
    """The source of the current time. Code that depends on time receives a clock as an
    argument."""

    def now(self) -> datetime:
        """Returns the current instant in UTC, truncated to milliseconds as in the store."""


class Timer(Protocol):
    """Waits, and measures elapsed time. Code that does either in order to act on it receives a
    timer as an argument."""

    def monotonic(self) -> float:
        """Returns seconds since an instant that stays the same while the machine runs."""

    async def sleep(self, seconds: float) -> None:
        """Lets the other tasks of the event loop run for so long."""

    def call_later(self, seconds: float, callback: Callable[[], object]) -> object:
        """Has the event loop call `callback` after so long."""


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


class SystemTimer:
    """The machine's monotonic time, which is never set."""

    def monotonic(self) -> float:
        """Returns seconds since an instant that stays the same while the machine runs."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Lets the other tasks of the event loop run for so long."""
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> object:
        """Has the event loop call `callback` after so long."""
        return asyncio.get_running_loop().call_later(seconds, callback)


class ShiftedClock(SystemClock):
    """The machine's clock, ahead by the time that a test has set."""

    ahead = timedelta()

    def now(self) -> datetime:
        """Returns the current instant in UTC, truncated to milliseconds as in the store."""
        return super().now() + self.ahead
