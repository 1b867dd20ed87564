"""Directories for what is too large to be held, and may hold secrets: gone with their process.

Each has a lock, which ends with whoever holds it; so what a killed process left behind is known,
and the next one removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

_PREFIX: Final = "idp-scratch-"
_LOCK: Final = "lock"


@contextmanager
def directory() -> Iterator[Path]:
    """A directory of this process, in the system's one for temporary files, within the block."""
    _sweep()
    path, lock = _made()
    try:
        with lock:
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _made() -> tuple[Path, IO[bytes]]:
    """A new directory with its lock, which this process has."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = (path / _LOCK).open("wb")
        if _is_taken(lock):
            return path, lock
        lock.close()


def _is_taken(lock: IO[bytes]) -> bool:
    """Whether the lock is had now. Before that, another process may take the directory for one
    that was left behind, and remove it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.fstat(lock.fileno()).st_nlink > 0


def _sweep() -> None:
    """Remove what dead processes of this user have left."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            is_ours = path.stat().st_uid == os.getuid() and not path.is_symlink()
            if is_ours:
                with (path / _LOCK).open("rb") as lock:
                    _remove_if_nobodys(path, lock)
        except OSError:  # it goes at this moment, or comes
            continue


def _remove_if_nobodys(path: Path, lock: IO[bytes]) -> None:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises BlockingIOError while it is used
    shutil.rmtree(path, ignore_errors=True)
