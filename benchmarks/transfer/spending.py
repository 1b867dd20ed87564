"""What a service and the process for its imports take of the machine meanwhile."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Final

from benchmarks.protocol.processes import cpu_seconds, resident_bytes
from tests.support.program import children

_EVERY_SECONDS: Final = 0.05
_MEGABYTE: Final = 2**20


class Spending:
    """Looks within the block. Memory in megabytes is what it grew to over that of the idle
    service, processor time in seconds what was used in the block; None: there was no process."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._idle = resident_bytes(pid)
        self._before = cpu_seconds(pid)
        self._most = self._idle
        self._of_job: dict[int, tuple[int, float]] = {}
        self._is_over = threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self.server_seconds = 0.0

    def __enter__(self) -> Spending:
        self._looking.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: object, ___: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._looking.join()
        self.server_seconds = cpu_seconds(self._pid) - self._before

    @property
    def idle_megabytes(self) -> float:
        return self._idle / _MEGABYTE

    @property
    def server_growth(self) -> float:
        return (self._most - self._idle) / _MEGABYTE

    @property
    def job_growth(self) -> float | None:
        """Over what the service itself has when it is idle: both have the program loaded."""
        most = max((memory for memory, _ in self._of_job.values()), default=None)
        return None if most is None else (most - self._idle) / _MEGABYTE

    @property
    def job_seconds(self) -> float | None:
        """Up to the last look, which is a twentieth of a second before the end."""
        return sum(used for _, used in self._of_job.values()) if self._of_job else None

    def _look(self) -> None:
        while not self._is_over.is_set():
            self._most = max(self._most, resident_bytes(self._pid))
            for child in children(self._pid):
                with suppress(OSError):  # it has just ended
                    self._note(child)
            time.sleep(_EVERY_SECONDS)

    def _note(self, child: int) -> None:
        most, _ = self._of_job.get(child, (0, 0.0))
        self._of_job[child] = max(most, resident_bytes(child)), cpu_seconds(child)
