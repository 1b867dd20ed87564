"""Compaction of a SQLite file that no program has open.

The content is written into a new file, which is checked and then gets the name of the old one, so
a process that ends at any moment leaves a complete file. Programs of this version wait for the
file's lock before they open it; to others the file is in use by its exclusive lock."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from storage.base import StorageError, Unavailable
from storage.compacting import Compacted, InUse, NoRoom
from storage.sqlite.locks import FileLock

_LOCK_TIMEOUT_SECONDS: Final = 1.0
_SPACE_FACTOR: Final = 1.1  # the new file is at most as large as the old one


def compact(path: str) -> Compacted:
    """Rewrites the file without free pages, in the mode in which SQLite can shorten it later.

    Raises InUse, NoRoom, Unavailable; StorageError if the new file is damaged. The old file is
    then unchanged."""
    draft = f"{path}.compact"
    try:
        with _locked(path):
            before = _write_draft(path, draft)
            _check_whole(draft)
            _sync(draft)
            os.replace(draft, path)
            _sync(os.path.dirname(path))
            return Compacted(before, os.path.getsize(path))
    except sqlite3.Error as error:
        raise Unavailable(f"SQLite: {error}") from error
    except OSError as error:
        raise Unavailable(f"{path} can't be compacted: {error.strerror}") from error


@contextmanager
def _locked(path: str) -> Iterator[None]:
    lock = FileLock(f"{path}-lock")
    try:
        with lock.held():
            yield
    finally:
        lock.close()


def _write_draft(path: str, draft: str) -> int:
    """Writes the draft; returns the size of the old file, whose log is empty then."""
    with closing(
        sqlite3.connect(path, timeout=_LOCK_TIMEOUT_SECONDS, isolation_level=None)
    ) as connection:
        _lock_exclusively(connection)
        size = os.path.getsize(path)
        _check_room(path, size)
        _make_empty(draft)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("VACUUM INTO ?", (draft,))
    return size


def _lock_exclusively(connection: sqlite3.Connection) -> None:
    """Ends the file's log, which is refused while any other connection is open. Raises InUse."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        raise InUse("the service is running: stop it first") from error
    if mode != "delete":
        raise InUse("the service is running: stop it first")


def _check_room(path: str, size: int) -> None:
    free = shutil.disk_usage(os.path.dirname(path)).free
    if free < size * _SPACE_FACTOR:
        raise NoRoom(
            f"a new file of {size} bytes beside {path} needs"
            f" {int(size * _SPACE_FACTOR)} free bytes; there are {free}"
        )


def _make_empty(draft: str) -> None:
    """Creates the draft as an empty file that only its owner may read; an older draft is
    replaced."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    os.close(os.open(draft, flags, 0o600))


def _check_whole(draft: str) -> None:
    with closing(sqlite3.connect(draft)) as connection:
        problems = [text for (text,) in connection.execute("PRAGMA integrity_check(1)")]
    if problems != ["ok"]:
        raise StorageError(f"the new file is not whole: {problems[0]}")


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
