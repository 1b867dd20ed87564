"""Temporary directories for data too large for memory. They are removed with their process, as the
data may hold secrets.

Each directory has a lock, which the operating system releases with its process. So the directories
of killed processes are recognized, and the next process removes them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from idp.foundation.errors import DiskFull

_PREFIX: Final = "idp-scratch-"
_LOCK: Final = "lock"


@contextmanager
def directory() -> Iterator[Path]:
    """Provides a new temporary directory, which is removed at the end of the block. Raises
    DiskFull, also within the block."""
    with raising_disk_full():
        _sweep()
        path, lock = _create()
        try:
            with lock:
                yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def raising_disk_full() -> Iterator[None]:
    """Raises DiskFull if the disk has no space for the writes of the block."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DiskFull from error


def _create() -> tuple[Path, IO[bytes]]:
    """Creates a directory whose lock this process holds."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        try:
            lock = (path / _LOCK).open("wb")
        except OSError:  # without its lock, no process would ever remove it
            path.rmdir()
            raise
        if _is_taken(lock):
            return path, lock
        lock.close()


def _is_taken(lock: IO[bytes]) -> bool:
    """Locks the directory, and returns whether this process has the lock.
    Before that another process may consider the directory abandoned and remove it.
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
            is_own = path.stat().st_uid == os.getuid() and not path.is_symlink()
            if is_own:
                with (path / _LOCK).open("rb") as lock:
                    _remove_if_abandoned(path, lock)
        except OSError:  # it is in use, or is being removed or created at this moment
            continue


def _remove_if_abandoned(path: Path, lock: IO[bytes]) -> None:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises BlockingIOError while it is in use
    shutil.rmtree(path, ignore_errors=True)
