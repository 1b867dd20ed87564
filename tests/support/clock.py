"""A clock that a test advances."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from storage.codec import truncated


class SteppingClock:
    """Starts at the real time, because some back ends decide expiry by it, or at `start`. It does
    not advance by itself."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = truncated(start or datetime.now(UTC))

    def now(self) -> datetime:
        return self._now

    def advance(self, by: float | timedelta) -> datetime:
        """Advances by seconds or a timedelta, backwards if negative; returns the new time."""
        step = by if isinstance(by, timedelta) else timedelta(seconds=by)
        self._now = truncated(self._now + step)
        return self._now
