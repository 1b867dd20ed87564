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

# The log then has 100 to 200 MB where keys are in no order. A page that is written repeatedly in
# between is copied once.
EVERY_ROWS: Final = 20000
_PASSES: Final = 2  # concurrently with writers; so little is left that they can wait for the rest


class Checkpointer:
    """Copies the write-ahead log into the file, in a thread with a connection of its own.

    The thread starts once there is much to copy. `reports` get how long each copy took.
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
        self._is_over = False
        self._thread: threading.Thread | None = None

    def rows_written(self, rows: int) -> None:
        """Is called by the one thread that writes, with the number of rows written since the
        opening; after every EVERY_ROWS of them, has the log copied."""
        if rows - self._copied_at < EVERY_ROWS:
            return
        self._copied_at = rows
        self.copy_soon()

    def copy_soon(self) -> None:
        """Has the log copied now. Called by the one thread that writes."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sqlite-log", daemon=True)
            self._thread.start()
        self._is_due.set()

    def close(self) -> None:
        """Completes the copy in progress. Called by the thread that writes."""
        self._is_over = True
        self._is_due.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with (
            suppress(sqlite3.Error, OSError),  # the writer then copies the log when it is long
            closing(self._open_lock()) as lock,
            closing(self._connect()) as connection,
        ):
            while self._is_due.wait() and not self._is_over:
                self._is_due.clear()
                self._copy(connection, lock)

    def _copy(self, connection: sqlite3.Connection, lock: FileLock) -> None:
        """Copies the whole log, so that the next writer begins it anew."""
        began = time.perf_counter()
        for _ in range(_PASSES):
            _checkpoint(connection)
        with lock.held():
            _checkpoint(connection)
        seconds = time.perf_counter() - began
        self._reports.pass_on(lambda observer: observer.log_copied(seconds))


def _checkpoint(connection: sqlite3.Connection) -> None:
    """Copies the pages that no reader needs in the log. It neither waits nor makes others wait."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
