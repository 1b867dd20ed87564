"""The memory and the processor time of a service and of the processes for its imports."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from benchmarks.protocol.processes import cpu_seconds
from tests.support.programs.program import children

_EVERY_SECONDS: Final = 0.5
_KILOBYTE: Final = 2**10
_MEGABYTE: Final = 2**20
_SHARE: Final = re.compile(r"^Pss: +([0-9]+) kB$", re.MULTILINE)


class Spending:
    """Takes samples within the block. Memory in megabytes is the growth over that of the idle
    service, processor time in seconds that used in the block; None: there was no process.

    Memory that several processes share counts as a part of each.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._idle = _memory(pid)
        self._before = cpu_seconds(pid)
        self._most_of_service = self._most_of_all = self._idle
        self._of_job: dict[int, float] = {}
        self._is_over = threading.Event()
        self._sampler = threading.Thread(target=self._take_samples, daemon=True)
        self.server_seconds = 0.0

    def __enter__(self) -> Spending:
        self._sampler.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: object, ___: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._sampler.join()
        self.server_seconds = cpu_seconds(self._pid) - self._before

    @property
    def idle_megabytes(self) -> float:
        return self._idle / _MEGABYTE

    @property
    def server_growth(self) -> float:
        return (self._most_of_service - self._idle) / _MEGABYTE

    @property
    def growth(self) -> float:
        """Returns the growth of the service and all processes of the job, together."""
        return (self._most_of_all - self._idle) / _MEGABYTE

    @property
    def job_seconds(self) -> float | None:
        """Returns the processor time up to the last sample, half a second before the end."""
        return sum(self._of_job.values()) if self._of_job else None

    def _take_samples(self) -> None:
        while not self._is_over.is_set():
            service = everybody = _memory(self._pid)
            for process in _below(self._pid):
                with suppress(OSError):  # it has just ended
                    everybody += _memory(process)
                    self._of_job[process] = cpu_seconds(process)
            self._most_of_service = max(self._most_of_service, service)
            self._most_of_all = max(self._most_of_all, everybody)
            time.sleep(_EVERY_SECONDS)


def _below(pid: int) -> Iterator[int]:
    """Returns the processes that a process has started, and their own."""
    for child in children(pid):
        yield child
        yield from _below(child)


def _memory(pid: int) -> int:
    """Returns the memory of a process, with its part of the memory that it shares with others
    (proc(5))."""
    share = _SHARE.search(Path(f"/proc/{pid}/smaps_rollup").read_text())
    return int(share[1]) * _KILOBYTE if share else 0
