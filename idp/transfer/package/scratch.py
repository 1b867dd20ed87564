"""Temporary directories for data too large for memory. They are removed with their process, as the
data may hold secrets.

Each directory has a lock, which the operating system releases with its process. So the directories
of killed processes are recognized, and the next process removes them.
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
    """Provides a new temporary directory, which is removed at the end of the block."""
    _sweep()
    path, lock = _create()
    try:
        with lock:
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _create() -> tuple[Path, IO[bytes]]:
    """Creates a directory whose lock this process holds."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = (path / _LOCK).open("wb")
        if _is_taken(lock):
            return path, lock
        lock.close()


def _is_taken(lock: IO[bytes]) -> bool:
    """Returns whether this process has the lock.

    Until then another process may take the directory for an abandoned one and remove it.
    """
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    # The lock may belong to a file that another process has unlinked meanwhile.
    return os.fstat(lock.fileno()).st_nlink > 0


def _sweep() -> None:
    """Removes the directories that ended processes of this user have left."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            is_ours = path.stat().st_uid == os.getuid() and not path.is_symlink()
            if is_ours:
                with (path / _LOCK).open("rb") as lock:
                    _remove_if_abandoned(path, lock)
        except OSError:  # it is in use, or is being removed or created at this moment
            continue


def _remove_if_abandoned(path: Path, lock: IO[bytes]) -> None:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises BlockingIOError while it is in use
    shutil.rmtree(path, ignore_errors=True)
