"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from storage.codec import cut


class SteppingClock:
    """Starts at the real time, because some back ends judge expiry by it, or at `start`."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = cut(start or datetime.now(UTC))

    def now(self) -> datetime:
        return self._now

    def advance(self, by: float | timedelta) -> datetime:
        """Move by seconds or a timedelta, backwards when negative; the new time."""
        step = by if isinstance(by, timedelta) else timedelta(seconds=by)
        self._now = cut(self._now + step)
        return self._now
