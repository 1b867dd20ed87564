"""The metrics of a process: its event loop, memory, processor time and descriptors."""

from __future__ import annotations

import asyncio
import os
import platform
import resource
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from idp import __version__
from idp.foundation import metrics

_LAG_SECONDS: Final = 0.25
_INTERVAL_SECONDS: Final = 5.0
_PROC: Final = Path("/proc/self")
_PAGE_BYTES: Final = resource.getpagesize()


class ProcessUsage(NamedTuple):
    """Resident memory, and open file descriptors."""

    memory_bytes: int
    open_fds: int


def coroutines(measure: Callable[[], None]) -> Sequence[Coroutine[Any, Any, None]]:
    """Returns the coroutines that measure this process, which the caller has to run while the
    process serves; none if no metrics are collected. `measure` sets gauges, several times a
    second."""
    if not metrics.process_name():
        return []
    metrics.BUILD_INFO.set(1, __version__, platform.python_version())
    return [_measure_often(measure), _measure_process()]


async def _measure_often(measure: Callable[[], None]) -> None:
    while True:
        measure()
        due = time.monotonic() + _LAG_SECONDS
        await asyncio.sleep(_LAG_SECONDS)
        metrics.EVENT_LOOP_LAG.observe(max(0.0, time.monotonic() - due))


async def _measure_process() -> None:
    worker, cpu_before = metrics.process_name(), 0.0
    while True:
        usage = await asyncio.to_thread(_usage)
        if usage is not None:
            metrics.PROCESS_MEMORY.set(usage.memory_bytes, worker)
            metrics.PROCESS_OPEN_FDS.set(usage.open_fds, worker)
        metrics.PROCESS_MAX_FDS.set(resource.getrlimit(resource.RLIMIT_NOFILE)[0], worker)
        cpu = time.process_time()
        metrics.PROCESS_CPU.count(worker, by=cpu - cpu_before)
        cpu_before = cpu
        await asyncio.sleep(_INTERVAL_SECONDS)


def _usage() -> ProcessUsage | None:
    """Returns the usage; None on a system without /proc, or if no descriptor is left."""
    try:
        pages = int((_PROC / "statm").read_text(encoding="ascii").split()[1])
        return ProcessUsage(pages * _PAGE_BYTES, len(os.listdir(_PROC / "fd")))
    except OSError:
        return None
