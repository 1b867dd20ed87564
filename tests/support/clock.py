"""A clock and a timer that a test advances."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from storage.codec import truncated
from tests.support.patience import loop_turns

# The same in every run, amid a day, a month and a year. It lies ahead of the real time, by which
# MongoDB and browsers remove what has expired.
START: Final = datetime(2029, 5, 16, 9, 26, 53, 589_000, tzinfo=UTC)
TURNS: Final = 20  # of the loop, for a task that was woken to sleep again


class SteppingClock:
    """Starts at `START` unless it is told otherwise, and does not advance by itself."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = truncated(start or START)

    def now(self) -> datetime:
        return self._now

    def advance(self, by: float | timedelta) -> datetime:
        """Advances by seconds or a timedelta, backwards if negative; returns the new time."""
        step = by if isinstance(by, timedelta) else timedelta(seconds=by)
        self._now = truncated(self._now + step)
        return self._now


class SteppingTimer:
    """Starts at 1000 seconds, and advances by `advance` alone."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._now + seconds, woken))
        await woken

    @property
    def sleepers(self) -> int:
        """How many tasks sleep."""
        return sum(not woken.done() for _, woken in self._sleepers)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> object:
        woken = asyncio.get_running_loop().create_future()
        woken.add_done_callback(lambda _: callback())
        self._sleepers.append((self._now + seconds, woken))
        return woken

    async def advance(self, seconds: float) -> None:
        """Advances, and wakes the sleepers one after the other at their times."""
        end = self._now + seconds
        await loop_turns(TURNS)
        while due := [sleeper for sleeper in self._sleepers if sleeper[0] <= end]:
            first = min(due, key=lambda sleeper: sleeper[0])
            self._sleepers.remove(first)
            self._now = max(self._now, first[0])
            if not first[1].done():  # it was cancelled
                first[1].set_result(None)
            await loop_turns(TURNS)
        self._now = end
