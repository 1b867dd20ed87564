"""When a worker that has ended is replaced: immediately, then after growing pauses."""

from __future__ import annotations

from collections import deque
from typing import Final

from idp.start import exit_codes

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 30.0
STABLE_SECONDS: Final = 60.0  # a worker that ran so long is replaced immediately again
STORE_UNREACHABLE_SECONDS: Final = 4.0  # between attempts while the store can't be reached
FAILURES_LIMIT: Final = 10
FAILURES_WITHIN_SECONDS: Final = 60.0


class Restarts:
    """How long to wait before ended workers are replaced, and when to give up. All instants are
    monotonic seconds."""

    def __init__(self) -> None:
        self._pauses: dict[int, float] = {}
        self._failures: deque[float] = deque(maxlen=FAILURES_LIMIT)

    def pause(self, index: int, code: int, uptime_seconds: float) -> float:
        """Returns how many seconds to wait before the worker `index` is replaced, which ended with
        the exit code `code` after it had run for `uptime_seconds`: longer each time, unless it ran
        for long."""
        if code == exit_codes.UNREACHABLE:
            return STORE_UNREACHABLE_SECONDS
        before = 0.0 if uptime_seconds >= STABLE_SECONDS else self._pauses.get(index, 0.0)
        self._pauses[index] = min(2 * before or FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
        return before

    def record_failure(self, now: float, code: int) -> bool:
        """Records that a worker ended with the exit code `code` while no worker serves; returns
        whether there were so many such ends in a short time that the supervisor has to give up.

        An end because the store can't be reached is never counted.
        """
        if code != exit_codes.UNREACHABLE:
            self._failures.append(now)
        is_full = len(self._failures) == FAILURES_LIMIT
        return is_full and now - self._failures[0] <= FAILURES_WITHIN_SECONDS

    def record_serving(self) -> None:
        """Records that a worker serves: the ends recorded so far by `record_failure` are no
        longer counted."""
        self._failures.clear()
