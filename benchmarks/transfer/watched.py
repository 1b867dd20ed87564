"""The service with a watch on its loop: `python -m benchmarks.transfer.watched serve …`.

The file that `STALLS_FILE` names contains the longest time in which the loop did not turn since
the last SIGUSR2. Time in which a busy machine had no processor for the loop's thread is not
counted.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Final
from unittest import mock

FILE_VARIABLE: Final = "STALLS_FILE"
BEGIN: Final = signal.SIGUSR2
_TICK_SECONDS: Final = 0.01
_SCHEDULED: Final = "/proc/thread-self/schedstat"


class Watch:
    """Calls itself repeatedly, and records when that takes too long."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._longest = 0.0

    def begin(self, *_: object) -> None:
        """Forgets the stalls so far."""
        self._longest = 0.0
        self._file.write_text("0")

    def on(self, loop: asyncio.AbstractEventLoop) -> asyncio.AbstractEventLoop:
        """Returns the loop, which is watched from its first turn on."""
        loop.call_soon(self._tick, loop, None)
        return loop

    def _tick(self, loop: asyncio.AbstractEventLoop, before: tuple[float, float] | None) -> None:
        now = time.monotonic(), _scheduled.delayed()
        if before is not None:
            self._note(now[0] - before[0] - _TICK_SECONDS - (now[1] - before[1]))
        loop.call_later(_TICK_SECONDS, self._tick, loop, now)

    def _note(self, seconds: float) -> None:
        if seconds > self._longest:
            self._longest = seconds
            self._file.write_text(str(seconds))


class _Scheduled(threading.local):
    """The kernel's scheduling statistics of the current thread; the file is opened once."""

    def __init__(self) -> None:
        self._file = os.open(_SCHEDULED, os.O_RDONLY) if os.path.exists(_SCHEDULED) else None

    def delayed(self) -> float:
        """Returns the seconds that this thread was ready, and had no processor."""
        if self._file is None:
            return 0.0
        return int(os.pread(self._file, 100, 0).split()[1]) / 1e9


_scheduled = _Scheduled()


def main() -> None:
    """Runs the program with the watch."""
    from idp.cli import main as program
    from idp.server import listener

    watch = Watch(Path(os.environ[FILE_VARIABLE]))
    signal.signal(BEGIN, watch.begin)
    usual = listener.loop_factory() or asyncio.new_event_loop

    def watched() -> asyncio.AbstractEventLoop:
        return watch.on(usual())

    with mock.patch.object(listener, "loop_factory", return_value=watched):
        program()


if __name__ == "__main__":
    sys.exit(main())
