"""Servers as processes: started, asked for what they cost by /proc, and stopped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.support.program import children, environment
from tests.support.replica_set import DIE_WITH_PARENT

STOP_SECONDS: Final = 60
_SCHEDULED: Final = 2  # CPUCLOCK_SCHED of the kernel
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


class Server:
    """What serves at a port. `pids` are the processes that do the work; `requests` is how many
    they were sent."""

    def __init__(self, name: str, port: int, pids: Sequence[int]) -> None:
        self.name = name
        self.port = port
        self.pids = pids
        self.requests = 0

    def cpu_seconds(self) -> float:
        """What its processes have used until now, all their threads together."""
        return sum(cpu_seconds(pid) for pid in self.pids)

    def resident_bytes(self) -> int:
        """The memory of the process that has most of it."""
        return max(resident_bytes(pid) for pid in self.pids)


def cpu_seconds(pid: int) -> float:
    """The time that a process and all its threads have had on a core.

    It is what /proc/PID/stat tells in hundredths of a second; a process's own clock is finer, and
    has a number that can be computed (clock_getcpuclockid(3)).
    """
    return time.clock_gettime(~pid << 3 | _SCHEDULED)


def resident_bytes(pid: int) -> int:
    """The memory that a process has at hand (proc(5), statm)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


def python(module: str, *arguments: str) -> list[str]:
    """The command line of one of these modules."""
    return [sys.executable, "-m", module, *arguments]


@contextmanager
def started(
    command: Sequence[str],
    log: Path,
    *,
    given: bytes = b"",
    variables: Mapping[str, str] | None = None,
) -> Iterator[tuple[subprocess.Popen[bytes], Any]]:
    """A process, and the JSON line by which it says that it serves.

    It is given a line on its input, writes its log to a file, and dies with this process.
    """
    tied = [sys.executable, "-S", "-c", DIE_WITH_PARENT, str(os.getpid()), *command]
    with log.open("ab") as errors:
        process = subprocess.Popen(
            tied,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment() | dict(variables or {}),
        )
    with process:
        try:
            yield process, _first_line(process, given, log)
        finally:
            process.terminate()
            _wait(process)


def _first_line(process: subprocess.Popen[bytes], given: bytes, log: Path) -> Any:
    assert process.stdin
    assert process.stdout
    process.stdin.write(given + b"\n")
    process.stdin.close()
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"a server does not start: {log.read_text()[-2000:]}")
    return msgspec.json.decode(line)


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def workers(pid: int, processes: int) -> list[int]:
    """The processes of a service that answer requests: itself, or its children."""
    return children(pid) if processes > 1 else [pid]
