"""Files that only their owner may read: written atomically, read only if no other user can, and
locked against other processes."""

from __future__ import annotations

import fcntl
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from idp.foundation.errors import AlreadyRunning, ConfigError

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@contextmanager
def new_file(path: Path, draft_id: str, *, replaces: bool = False) -> Iterator[BinaryIO]:
    """Opens a file of mode 0600 for writing, which gets the name `path` only at the end of the
    block.

    Until then it is `.NAME.<draft_id>` in the same directory, with a random `draft_id`; only a
    killed process leaves it behind. Raises FileExistsError if the file exists and `replaces` is
    false; OSError.
    """
    draft = path.with_name(f".{path.name}.{draft_id}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replaces:
            draft.replace(path)
        else:
            _publish(draft, path)
    finally:
        draft.unlink(missing_ok=True)
        sync_directory(path.parent)


def _publish(draft: Path, path: Path) -> None:
    """Gives the draft its name, unless the name is taken."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # not every file system has hard links
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        draft.replace(path)


@contextmanager
def locked(path: Path, in_use: str, *, creates: bool = False) -> Iterator[None]:
    """Holds the lock of a file or directory within the block; the kernel releases it when this
    process ends. A missing file is created if `creates`.

    Raises AlreadyRunning with the text `in_use` if another process holds the lock; OSError.
    """
    access = os.O_RDWR | os.O_CREAT if creates else os.O_RDONLY
    descriptor = os.open(path, access | os.O_CLOEXEC, 0o600)
    try:
        _lock(descriptor, in_use)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, in_use: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise AlreadyRunning(in_use) from None


def sync_directory(directory: Path) -> None:
    """Waits until the names of the files in the directory are on disk, so that a file that was
    just created or renamed survives a power failure."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(path: Path, name: str, max_bytes: int) -> bytes:
    """Returns the first `max_bytes` bytes of the file. `name` is what error messages call the
    file, such as the setting that names it.

    Raises ConfigError if the file can't be read, or if others can.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(max_bytes)
    except OSError as error:
        raise ConfigError([f"{name} {path} can't be read: {error.strerror}"]) from error
    if is_open_to_others(status):
        raise ConfigError(
            [
                f"{name} {path} is open to others (mode {stat.S_IMODE(status.st_mode):04o}); run:"
                f" chmod 600 {shlex.quote(str(path))}"
            ]
        )
    return content


def is_open_to_others(status: os.stat_result) -> bool:
    """Returns whether another user than the owner may read or write the file.

    A file of root that the process reads by its group is not open to others: Kubernetes and
    systemd provide secrets in this way.
    """
    others_mode = _OTHERS
    if status.st_uid == 0 and os.geteuid() != 0:
        others_mode &= ~stat.S_IRGRP
    return bool(status.st_mode & others_mode)
