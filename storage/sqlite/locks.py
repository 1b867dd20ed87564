"""Turns among the processes that write one file."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager


class FileLock:
    """A fair lock among processes: none is overtaken twice by the same one.

    SQLite's own busy handler polls, so that one process could starve another for seconds. And the
    kernel wakes a process that waits for a lock, but does not hand the lock over: a process that
    releases it and requests it again at once would get it. So a second lock, the door, is taken
    before it, and is held by the process that waits next.
    """

    def __init__(self, path: str) -> None:
        self._door = _opened(f"{path}-door")
        self._lock = _opened(path)

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


def _opened(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
