"""A clock that a test advances."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from storage.codec import truncated

# The same in every run, amid a day, a month and a year. It lies ahead of the real time, by which
# MongoDB and browsers remove what has expired.
START: Final = datetime(2029, 5, 16, 9, 26, 53, 589_000, tzinfo=UTC)


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
