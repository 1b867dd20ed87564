"""Copying of the write-ahead log into the file by a thread of its own, so that writers do not wait
for the disk.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Final

from storage.observer import ThreadReports
from storage.sqlite.locks import FileLock

# The log then has 100 to 200 MB if keys are in random order. A page that is written several times
# between two copies is copied once.
ROWS_BETWEEN_COPIES: Final = 20000
_PASSES: Final = 2  # concurrent with writers, which wait only while the small remainder is copied


class Checkpointer:
    """Copies the write-ahead log into the file, in a thread with a connection of its own.

    The thread starts before the first copy. `reports` are notified of the duration of each copy.
    """

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        open_lock: Callable[[], FileLock],
        reports: ThreadReports,
    ) -> None:
        self._reports = reports
        self._connect = connect
        self._open_lock = open_lock
        self._copied_at = 0
        self._is_due = threading.Event()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def rows_written(self, rows: int) -> None:
        """Is called by the one thread that writes, with the number of rows written since the
        opening; starts a copy of the log after every ROWS_BETWEEN_COPIES of them."""
        if rows - self._copied_at < ROWS_BETWEEN_COPIES:
            return
        self._copied_at = rows
        self.copy_soon()

    def copy_soon(self) -> None:
        """Starts a copy of the log. Called by the one thread that writes."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sqlite-log", daemon=True)
            self._thread.start()
        self._is_due.set()

    def close(self) -> None:
        """Completes the copy in progress. Called by the thread that writes."""
        self._is_closed = True
        self._is_due.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with (
            suppress(sqlite3.Error, OSError),  # the writer then copies the log when it is long
            closing(self._open_lock()) as lock,
            closing(self._connect()) as connection,
        ):
            while self._is_due.wait() and not self._is_closed:
                self._is_due.clear()
                self._copy(connection, lock)

    def _copy(self, connection: sqlite3.Connection, lock: FileLock) -> None:
        """Copies the whole log, so that the next writer starts a new one."""
        started_at = time.perf_counter()
        for _ in range(_PASSES):
            _checkpoint(connection)
        with lock.held():
            _checkpoint(connection)
        seconds = time.perf_counter() - started_at
        self._reports.send(lambda observer: observer.log_copied(seconds))


def _checkpoint(connection: sqlite3.Connection) -> None:
    """Copies the pages that no reader needs in the log. It neither waits nor makes others wait."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
