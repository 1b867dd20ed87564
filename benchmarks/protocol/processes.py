"""Server processes: start, processor time and memory by /proc, and stop."""

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

from tests.support.programs.program import children, environment
from tests.support.servers.replica_set import DIE_WITH_PARENT

STOP_SECONDS: Final = 60
_SCHEDULED: Final = 2  # CPUCLOCK_SCHED of the kernel
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


class Server:
    """A server at a port. `pids` are the processes that do the work; `requests` is how many were
    sent to them."""

    def __init__(self, name: str, port: int, pids: Sequence[int]) -> None:
        self.name = name
        self.port = port
        self.pids = pids
        self.requests = 0

    def cpu_seconds(self) -> float:
        """Returns the processor time of its processes so far, with all their threads."""
        return sum(cpu_seconds(pid) for pid in self.pids)

    def resident_bytes(self) -> int:
        """Returns the memory of the process that has the most."""
        return max(resident_bytes(pid) for pid in self.pids)


def cpu_seconds(pid: int) -> float:
    """Returns the processor time of a process and all its threads.

    It is the value that /proc/PID/stat has in hundredths of a second; a process's own clock is
    finer, and has a number that can be computed (clock_getcpuclockid(3)).
    """
    return time.clock_gettime(~pid << 3 | _SCHEDULED)


def resident_bytes(pid: int) -> int:
    """Returns the resident memory of a process (proc(5), statm)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


def python(module: str, *arguments: str) -> list[str]:
    """Returns the command line of one of these modules."""
    return [sys.executable, "-m", module, *arguments]


@contextmanager
def started(
    command: Sequence[str],
    log: Path,
    *,
    given: bytes = b"",
    variables: Mapping[str, str] | None = None,
) -> Iterator[tuple[subprocess.Popen[bytes], Any]]:
    """Starts a process; returns it and the JSON line that it writes when it serves.

    The process gets a line as its input, writes its log to a file, and ends with this process.
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
    """Returns the processes of a service that answer requests: itself, or its children."""
    return children(pid) if processes > 1 else [pid]
