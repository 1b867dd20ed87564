"""Holding back log lines that repeat many times a second, so that a flood of one event hides no
other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

LIMIT: Final = 20  # lines of a kind in a second; beyond, one a second with their number
WINDOW_SECONDS: Final = 1.0
_MAX_KINDS: Final = 1000  # libraries may put variable text into an event


@dataclass(slots=True)
class _LineWindow:
    """The current second of a kind of line."""

    began_at: float
    limit: int
    allowed: int
    seen: int = 0
    held: int = 0


class Repetitions:
    """Counts the log lines of each kind, and decides which are held back. A kind is named by its
    logger, level and event.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._now = monotonic
        self._windows: dict[tuple[str, str, str], _LineWindow] = {}

    def admit(self, kind: tuple[str, str, str], limit: int = LIMIT) -> int | None:
        """Counts a line of this kind. Returns None if the line must not be written; otherwise, how
        many lines of the kind were held back since the last one that was written.

        `kind` is the logger, the level and the event; `limit` is how many lines of it are written
        in the first second.
        """
        now = self._now()
        window = self._windows.get(kind)
        if window is None:
            self._make_room()
            window = self._windows[kind] = _LineWindow(now, limit, limit)
        held_lines = self._restart(window, now) if now - window.began_at >= WINDOW_SECONDS else 0
        window.seen += 1
        if window.seen <= window.allowed:
            return held_lines
        window.held += 1
        return None

    def clear(self) -> None:
        """Clears all counts."""
        self._windows.clear()

    def take_ended(self) -> Iterator[tuple[tuple[str, str, str], int]]:
        """Yields each kind that had lines held back in a second that has ended, and their number.

        The number is then reset, so that no line is reported twice.
        """
        now = self._now()
        for kind, window in list(self._windows.items()):
            if window.held and now - window.began_at >= WINDOW_SECONDS:
                yield kind, self._restart(window, now)
                window.seen = 1  # the report is the line of this second

    def _restart(self, window: _LineWindow, now: float) -> int:
        """Begins the next second; returns how many lines the last one held back."""
        held_lines = window.held
        window.allowed = 1 if window.seen > window.limit else window.limit
        window.began_at, window.seen, window.held = now, 0, 0
        return held_lines

    def _make_room(self) -> None:
        if len(self._windows) >= _MAX_KINDS:
            self._windows = {kind: each for kind, each in self._windows.items() if each.held}
