"""The supervisor's child that answers scrapes of metrics."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from idp.foundation import logs
from idp.foundation.clock import Timer

_PAUSE_SECONDS: Final = 1.0  # before a child that has ended is replaced

_log: Final = logs.logger(__name__)


class MetricsChild:
    """A child process that runs `answer`, which serves metrics, and is replaced whenever it ends;
    with None, no child is started."""

    def __init__(self, answer: Callable[[], None] | None, timer: Timer) -> None:
        self._answer = answer
        self._timer = timer
        self._pid: int | None = None
        self._due_at = 0.0

    def start_if_due(self, fork: Callable[[Callable[[], None]], int]) -> None:
        """Starts the child if it does not run; `fork` runs a function in a child and returns its
        process id.
        """
        if self._answer is None or self._pid is not None or self._timer.monotonic() < self._due_at:
            return
        try:
            self._pid = fork(self._answer)
        except OSError as error:  # no process or memory is left
            self._due_at = self._timer.monotonic() + _PAUSE_SECONDS
            _log.error("the child for metrics can't be started", cause=error.strerror)

    def record_end(self, pid: int, code: int) -> None:
        """Records that a child of this process has ended; to be called for every one. If it is
        this child, `start_if_due` starts it again after a pause. `code` is its exit code, for the
        log."""
        if pid == self._pid:
            self._pid = None
            self._due_at = self._timer.monotonic() + _PAUSE_SECONDS
            _log.warning("the child for metrics is replaced", exit_code=code)

    def stop(self) -> None:
        """Kills the child, if it runs, and waits until it has ended."""
        if self._pid is not None:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)  # it has nothing to finish
                os.waitpid(self._pid, 0)
            self._pid = None
