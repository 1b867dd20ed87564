"""The one thread that writes: group commit, a savepoint per unit, turns with other processes."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

from storage.base import StorageError, Unavailable, Unknown
from storage.observer import BatchTimer, Observer, ThreadReports, current_call
from storage.sqlite import bulk
from storage.sqlite.checkpoints import Checkpointer
from storage.sqlite.free_space import FreeSpace
from storage.sqlite.locks import FileLock
from storage.sqlite.reader import unavailable
from storage.sqlite.sweep import ROWS_PER_SECOND, Sweeper
from storage.sqlite.tables import Tables
from storage.sqlite.transaction import SqliteTransaction, conflict
from storage.steps import PreparedUnit

_WriteUnits = Callable[[SqliteTransaction, Sequence[PreparedUnit]], list[Any]]

_MAX_UNITS: Final = 200
_SWEEP_EVERY_SECONDS: Final = 1.0
# Errors of maintenance, including the file lock: the writer must survive them, or every commit
# would hang.
_UPKEEP_ERRORS: Final = (sqlite3.Error, OSError)
_SLICE_PAUSE_SECONDS: Final = 0.02  # in which waiting units are written


class QueuedUnits:
    """Units that were submitted together, and the future of their outcomes."""

    def __init__(self, units: list[PreparedUnit], future: asyncio.Future[list[Any]]) -> None:
        self.units = units
        self.future = future
        self.call = current_call()

    def answer(self, outcomes: list[Any]) -> None:
        if not self.future.done():  # the caller was cancelled or timed out
            self.future.set_result(outcomes)

    def unknown(self) -> list[Any]:
        """Returns the outcomes if the writer does not answer in time: it may still write them."""
        return [Unknown(prepared.unit) for prepared in self.units]


class QueuedCall(QueuedUnits):
    """A queued function, which the writer calls with its connection, outside of a transaction."""

    def __init__(
        self, function: Callable[[sqlite3.Connection], object], future: asyncio.Future[list[Any]]
    ) -> None:
        super().__init__([], future)
        self.function = function


class _BeginFailed(Exception):
    """The transaction could not begin: no unit is the cause, and none was applied."""


class Clocks(NamedTuple):
    """The clock by which records expire, and the one by which expired records are removed."""

    now: Callable[[], datetime]
    removal_now: Callable[[], datetime]


class Writer:
    """The thread that writes. It owns the writing connection, the lock and the checkpointer."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        lock: FileLock,
        checkpointer: Checkpointer,
        tables: Tables,
        clocks: Clocks,
        observer: Observer | None = None,
    ) -> None:
        self._observer = observer
        self._reports = ThreadReports(observer)
        self._connection = connection
        self._lock = lock
        self._checkpointer = checkpointer
        self._tables = tables
        self._clocks = clocks
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[QueuedUnits | None] = SimpleQueue()
        self._sweeper = Sweeper(tables)
        self._free_space = FreeSpace()
        self._swept_at = self._sliced_at = time.monotonic()
        self._slice_after = _SWEEP_EVERY_SECONDS
        self._removed = 0  # in this second
        self._closed: asyncio.Future[None] | None = None
        threading.Thread(target=self._run, name="sqlite-writer", daemon=True).start()

    def submit(self, units: list[PreparedUnit]) -> QueuedUnits:
        """Queues units; their outcomes are in the same order. Raises Unavailable when closing."""
        if self._closed is not None:
            raise Unavailable("the store is closed")
        entry = QueuedUnits(units, self._loop.create_future())
        self._queue.put(entry)
        return entry

    async def call(self, function: Callable[[sqlite3.Connection], object]) -> None:
        """Calls `function` in the writing thread with its connection, after the units that were
        queued before, and waits for its end. Raises StorageError."""
        if self._closed is not None:
            raise Unavailable("the store is closed")
        entry = QueuedCall(function, self._loop.create_future())
        self._queue.put(entry)
        (outcome,) = await entry.future
        if outcome is not None:
            raise outcome

    async def close(self) -> None:
        """Refuses new units, completes the queued ones, copies the log, and closes the
        connection."""
        if self._closed is None:
            self._closed = self._loop.create_future()
            self._queue.put(None)
        await asyncio.shield(self._closed)

    def _run(self) -> None:
        is_open = True
        while is_open:
            entries = self._take()
            is_open = None not in entries
            if entries:
                self._process([entry for entry in entries if entry is not None])
            self._maintain_when_due(is_idle=not entries)
            self._remove_when_due()
        self._finish()

    def _take(self) -> list[QueuedUnits | None]:
        """Returns the queued units, up to a batch, or nothing once expired rows are due for
        removal.

        `None`, the end, is always the last.
        """
        wait = self._sliced_at + self._slice_after - time.monotonic()
        try:
            entries = [entry := self._queue.get(timeout=max(0.0, wait))]
        except Empty:
            return []
        units = len(entry.units) if entry else _MAX_UNITS
        while units < _MAX_UNITS and not self._queue.empty():
            entries.append(entry := self._queue.get())
            units += len(entry.units) if entry else _MAX_UNITS
        return entries

    def _process(self, entries: list[QueuedUnits]) -> None:
        if not entries:
            return
        units = [prepared for entry in entries for prepared in entry.units]
        timer = BatchTimer(
            self._observer, "sqlite", "write", "transaction", [entry.call for entry in entries]
        )
        outcomes = iter(self._outcomes(units) if units else [])
        timer.stop()
        answers = [(entry, [next(outcomes) for _ in entry.units]) for entry in entries]
        for entry, answer in answers:
            if isinstance(entry, QueuedCall):
                answer.append(self._call_function(entry.function))
        self._call_in_loop(partial(_answer, answers, timer))

    def _call_function(
        self, function: Callable[[sqlite3.Connection], object]
    ) -> StorageError | None:
        try:
            with self._lock.held():
                function(self._connection)
        except sqlite3.Error as error:
            return unavailable(error)
        except OSError as error:
            return Unavailable(str(error))
        except Exception as error:  # the writer must survive every error
            return _failure(error)
        return None

    def _call_in_loop(self, callback: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            return  # the event loop is closed, so no caller waits

    def _outcomes(self, units: list[PreparedUnit]) -> list[Any]:
        try:
            return self._attempt(units)
        except (_BeginFailed, OSError) as error:
            return [Unavailable(str(error)) for _ in units]
        except sqlite3.Error as error:
            # The engine rolled the batch back. One unit may be the cause, so each runs alone.
            return [unavailable(error)] if len(units) == 1 else self._outcomes_one_by_one(units)
        # The writer must survive every error, or all callers would hang.
        except Exception as error:
            return [_failure(error) for _ in units]

    def _outcomes_one_by_one(self, units: list[PreparedUnit]) -> list[Any]:
        outcomes: list[Any] = []
        for prepared in units:
            outcomes += self._outcomes([prepared])
        return outcomes

    def _attempt(self, units: list[PreparedUnit]) -> list[Any]:
        with self._lock.held():
            try:
                outcomes = self._transact(units, self._write_in_bulk)
            except bulk.BulkRefused:
                outcomes = self._transact(units, self._write_each)
        self._checkpointer.rows_written(self._connection.total_changes)
        return outcomes

    def _transact(self, units: list[PreparedUnit], write_units: _WriteUnits) -> list[Any]:
        self._begin()
        try:
            outcomes = write_units(SqliteTransaction(self._connection, self._clocks.now()), units)
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        return outcomes

    def _begin(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise _BeginFailed(f"SQLite: {error}") from error

    def _write_in_bulk(
        self, transaction: SqliteTransaction, units: Sequence[PreparedUnit]
    ) -> list[Any]:
        """Returns the outcomes, if no unit that is inserted with others has a taken key.

        Raises bulk.BulkRefused otherwise: the units are then run one by one, which identifies
        the cause.
        """
        outcomes: list[Any] = []
        for is_inserted, group in bulk.groups(units):
            if is_inserted:
                bulk.insert(self._connection, group)
                outcomes += [None] * len(group)
            else:
                outcomes += self._write_each(transaction, group)
        return outcomes

    def _write_each(
        self, transaction: SqliteTransaction, units: Sequence[PreparedUnit]
    ) -> list[Any]:
        return [self._unit(transaction, prepared) for prepared in units]

    def _unit(self, transaction: SqliteTransaction, prepared: PreparedUnit) -> Any:
        """Returns the result of one unit, or the error that rolled it back; the other units
        continue.
        """
        try:
            if len(prepared.steps) == 1:
                # One step ends in one statement, which SQLite rolls back alone.
                return prepared.run(transaction)
            with self._savepoint():
                return prepared.run(transaction)
        except sqlite3.IntegrityError as error:
            return conflict(error, self._tables)
        except sqlite3.Error:
            raise
        except Exception as error:  # an error of one unit must not fail the others
            return _failure(error)

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        self._connection.execute("SAVEPOINT unit")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK TO unit")
            raise
        finally:
            if self._connection.in_transaction:
                self._connection.execute("RELEASE unit")

    def _maintain_when_due(self, *, is_idle: bool) -> None:
        """Removes expired rows of the tables without an index by expiry, and returns free pages,
        once a second.

        While no unit is queued, it processes one table only.
        """
        if time.monotonic() - self._swept_at < _SWEEP_EVERY_SECONDS:
            return
        self._swept_at = time.monotonic()
        try:
            with self._lock.held():
                now, tables = self._clocks.removal_now(), 1 if is_idle else None
                self._sweeper.remove_slice(self._connection, now, tables)
            self._report_removed()
            self._release_free_pages()
        except _UPKEEP_ERRORS:
            return  # reads do not depend on it; it is repeated

    def _report_removed(self) -> None:
        for table, rows in self._sweeper.take_removed().items():
            self._reports.send(partial(_swept, table, rows))

    def _release_free_pages(self) -> None:
        if not self._free_space.is_due(self._connection):
            return
        with self._lock.held():
            is_copy_due = self._free_space.release(self._connection)
        if is_copy_due:
            self._checkpointer.copy_soon()

    def _remove_when_due(self) -> None:
        """Removes expired rows of the tables that are swept soon.

        At most 5,000 rows a second, with a pause between two slices.
        """
        if time.monotonic() - self._sliced_at < self._slice_after:
            return
        if self._slice_after == _SWEEP_EVERY_SECONDS:
            self._removed = 0
        try:
            self._slice_after = self._remove()
        except _UPKEEP_ERRORS:
            self._slice_after = _SWEEP_EVERY_SECONDS
        self._sliced_at = time.monotonic()

    def _remove(self) -> float:
        """Removes one slice; returns the seconds until the next one."""
        now = self._clocks.removal_now()
        if not self._sweeper.has_expired(self._connection, now):
            return _SWEEP_EVERY_SECONDS
        with self._lock.held():
            self._removed += self._sweeper.remove_oldest(self._connection, now)
        self._report_removed()
        return _SLICE_PAUSE_SECONDS if self._removed < ROWS_PER_SECOND else _SWEEP_EVERY_SECONDS

    def _finish(self) -> None:
        self._checkpointer.close()
        try:
            with self._lock.held():
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except _UPKEEP_ERRORS:
            pass  # a reader uses the log; the next opening checkpoints it
        self._connection.close()
        self._lock.close()
        self._call_in_loop(self._end)

    def _end(self) -> None:
        if self._closed is not None and not self._closed.done():
            self._closed.set_result(None)


def _answer(answers: list[tuple[QueuedUnits, list[Any]]], timer: BatchTimer) -> None:
    timer.report()
    for entry, outcomes in answers:
        entry.answer(outcomes)


def _swept(table: str, rows: int, observer: Observer) -> None:
    observer.swept(table, rows)


def _failure(error: Exception) -> StorageError:
    if isinstance(error, StorageError):
        return error
    failure = StorageError(f"the unit could not be written: {error!r}")
    failure.__cause__ = error
    return failure
