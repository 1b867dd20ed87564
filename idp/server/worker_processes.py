"""The data that a supervisor and its workers exchange."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from idp.server.heartbeats import Heartbeats


class WorkerContext(Struct, frozen=True):
    """The values that the worker with the number `index` gets from its parent process.
    `listening_socket` is bound but does not listen yet; in `heartbeats` it records that it runs;
    `ready` reports that it serves; `parent` is a descriptor that closes when the parent ends.
    """

    index: int
    listening_socket: socket.socket
    heartbeats: Heartbeats
    ready: Callable[[], None]
    parent: int


class ProcessFunctions(Struct, frozen=True):
    """The functions that the supervisor or its children run.

    `prepare` runs once in a child, which records in the heartbeats that it runs, as if it were the
    first worker, and returns the announcement; `work` is what each worker runs. `reload` reads the
    settings again; if it does not return None, the workers do the same. `answer_scrapes`, if not
    None, serves metrics in one more child, until the descriptor that it gets is closed, which is
    when the supervisor ends. `blocks_others` returns for a worker whose event loop hangs, by its
    process id, whether it blocks the others and can't continue on its own.
    """

    prepare: Callable[[Heartbeats], bytes]
    work: Callable[[WorkerContext], None]
    reload: Callable[[], object]
    blocks_others: Callable[[int], bool]
    answer_scrapes: Callable[[int, Heartbeats], None] | None = None


class TimeLimits(Struct, frozen=True):
    """How long a worker's event loop may hang, and how long a stop may take, in seconds."""

    hang_seconds: float
    stop_seconds: float


def is_stopped(pid: int) -> bool:
    """Returns whether a process was stopped by a signal or a debugger: it runs again only when
    another process continues it. False on a system without /proc.
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] in ("T", "t")
