"""The log is copied back into the file beside whoever writes, who would wait for the disk else."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Final

from storage.sqlite.locks import FileLock

# By then the log has 100 to 200 MB where keys come in no order: a page that is written again and
# again meanwhile is copied once.
EVERY_ROWS: Final = 20000
_PASSES: Final = 2  # beside the others; so little is left that they can wait for the rest


class Checkpointer:
    """Has a thread and a connection of its own as soon as there is much to copy."""

    def __init__(
        self, connect: Callable[[], sqlite3.Connection], open_lock: Callable[[], FileLock]
    ) -> None:
        self._connect = connect
        self._open_lock = open_lock
        self._copied_at = 0
        self._is_due = threading.Event()
        self._is_over = False
        self._thread: threading.Thread | None = None

    def note(self, rows: int) -> None:
        """So many rows have been written so far. Called by the one thread that writes."""
        if rows - self._copied_at < EVERY_ROWS:
            return
        self._copied_at = rows
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sqlite-log", daemon=True)
            self._thread.start()
        self._is_due.set()

    def close(self) -> None:
        """Finish the copy that is under way. Called by the thread that writes."""
        self._is_over = True
        self._is_due.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with (
            suppress(sqlite3.Error, OSError),  # then the writer does it when the log is long
            closing(self._open_lock()) as lock,
            closing(self._connect()) as connection,
        ):
            while self._is_due.wait() and not self._is_over:
                self._is_due.clear()
                self._copy(connection, lock)

    def _copy(self, connection: sqlite3.Connection, lock: FileLock) -> None:
        """Copy the whole log, so that it is begun anew by whoever writes next."""
        for _ in range(_PASSES):
            _checkpoint(connection)
        with lock.held():
            _checkpoint(connection)


def _checkpoint(connection: sqlite3.Connection) -> None:
    """Copy what no reader needs as it was; nobody is waited for, and nobody waits."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
