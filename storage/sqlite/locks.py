"""A fair lock among the processes that write one file."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FileLock:
    """A fair lock among processes: none is overtaken twice by the same one.

    SQLite's own busy handler polls, so that one process could keep another waiting for seconds.
    And the kernel wakes a process that waits for a lock, but does not hand the lock over: a
    process that releases it and requests it again immediately would get it. So a second lock, the
    door, is taken before it, and is held by the process that is next.
    """

    def __init__(self, path: str) -> None:
        door, lock = _lock_files(path)
        self._door = _open(door)
        self._lock = _open(lock)

    @contextmanager
    def held(self) -> Iterator[None]:
        with _locked(self._door):
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._lock)
        os.close(self._door)


def is_held_by(path: str, pid: int) -> bool:
    """Returns whether a process holds the lock at `path`, or its door, so that no other one gets
    the lock. False on a system other than Linux, and for a process of another user (proc(5),
    fdinfo).
    """
    try:
        files = [os.stat(file) for file in _lock_files(path)]
        return any(_is_locked(pid, number, files) for number in os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # there is no such lock, or the process has ended
        return False


def _is_locked(pid: int, descriptor: str, files: list[os.stat_result]) -> bool:
    """Returns whether the descriptor of a process refers to one of the files and has locked it."""
    try:
        opened = os.stat(f"/proc/{pid}/fd/{descriptor}")
        if not any(os.path.samestat(opened, file) for file in files):
            return False
        return "FLOCK" in Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text(encoding="ascii")
    except OSError:  # it has just been closed
        return False


def _lock_files(path: str) -> tuple[str, str]:
    """Returns the files of the door and of the lock, in the order in which they are locked."""
    return f"{path}-door", path


def _open(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
