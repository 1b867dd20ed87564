"""The store: reads on the event loop, a reader thread for long ones, and the writer."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

from storage import deadline, steps, upgrades
from storage.base import (
    COUNT_CAP,
    FIRST_SCHEMA,
    META,
    SCHEMA_ID,
    UNKNOWN_AFTER_SECONDS,
    Collection,
    Cursor,
    Key,
    Page,
    R,
    Reader,
    Schema,
    StorageError,
    Unavailable,
    Unit,
    Unsupported,
    Value,
    Where,
)
from storage.condition import FileState
from storage.lists import check_each, plan
from storage.observer import ThreadReports
from storage.sqlite import loading, tables
from storage.sqlite.checkpoints import Checkpointer
from storage.sqlite.inspection import Inspection
from storage.sqlite.locks import FileLock
from storage.sqlite.reader import (
    MAX_VALUES_PER_STATEMENT,
    SqliteReader,
    ThreadReader,
    portions,
    unavailable,
)
from storage.sqlite.transaction import SqliteTransaction
from storage.sqlite.writer import Clocks, Writer
from storage.stepped import SteppedStore
from storage.steps import PreparedUnit

T = TypeVar("T")
Connect = Callable[..., sqlite3.Connection]
_BUSY_SECONDS: Final = 5.0
_CACHE_KIB: Final = 8 * 1024  # for the event loop's reader, and for the writer
# Pages of 4 KiB; reached only if the checkpointer has not copied the log before.
_CHECKPOINT_PAGES: Final = 64_000


class SqliteStore(SteppedStore):
    """A store in one SQLite file.

    Without a path, in a temporary directory, which `close` removes.
    """

    _reader: SqliteReader
    _background: ThreadReader
    _writer: Writer | None = None
    _closing: asyncio.Future[None] | None = None

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        removal_now: Callable[[], datetime] | None = None,
        unknown_after_seconds: float = UNKNOWN_AFTER_SECONDS,
        connect: Connect = sqlite3.connect,
    ) -> None:
        super().__init__(now=now, new_id=new_id)
        self._removal_now = removal_now or now
        self._path = "" if path is None else os.path.abspath(path)
        self._is_temporary = path is None
        self._unknown_after_seconds = unknown_after_seconds
        self._connect_with = connect
        self._reader_thread = ThreadPoolExecutor(1, thread_name_prefix="sqlite-reader")

    async def open(
        self, collections: Sequence[Collection[Any]], schema: Schema | None = FIRST_SCHEMA
    ) -> None:
        self._tables = tables.Tables(collections, tables.SqliteTable)
        if self._is_temporary:
            self._path = os.path.join(tempfile.mkdtemp(prefix="store-"), "store.sqlite3")
        try:
            connection, lock = await self._call(partial(self._prepare, schema, self._new_id()))
        except BaseException:
            self._reader_thread.shutdown(wait=False)
            self._remove_temporary()
            raise
        checkpointer = Checkpointer(self._connection, self._lock, ThreadReports(self.observer))
        self._writer = Writer(
            connection,
            lock,
            checkpointer,
            self._tables,
            Clocks(self._now, self._removal_now),
            self.observer,
        )
        self._reader = self._new_reader(self._now, _CACHE_KIB)
        self._background = ThreadReader(self._new_reader(self._now), self._call)
        await upgrades.at_opening(self, schema, self._now, self._new_id)

    def _prepare(self, schema: Schema | None, unit_id: str) -> tuple[sqlite3.Connection, FileLock]:
        """Returns the writing connection to a file with all tables and indexes, and its lock."""
        try:
            # The file holds password hashes, so only its owner may read it. SQLite gives its log
            # the same mode.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            lock = self._lock()
        except OSError as error:
            raise Unavailable(f"{self._path} can't be opened: {error.strerror}") from error
        connection: sqlite3.Connection | None = None
        try:
            with lock.held():
                # Under the lock: a compaction puts another file in the place of this one.
                connection = self._connection()
                self._prepare_locked(connection, schema, unit_id)
        except BaseException as error:
            if connection is not None:
                connection.close()
            lock.close()
            if isinstance(error, sqlite3.Error):
                raise self._refusal(error) from error
            raise
        return connection, lock

    def _lock(self) -> FileLock:
        return FileLock(f"{self._path}-lock")

    def _refusal(self, error: sqlite3.Error) -> StorageError:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            return Unsupported(f"{self._path} is not a store of this service: not a SQLite file")
        return unavailable(error)

    def _prepare_locked(
        self, connection: sqlite3.Connection, schema: Schema | None, unit_id: str
    ) -> None:
        if connection.execute("PRAGMA page_count").fetchone() == (0,):
            # Only a new file accepts this mode, in which it can be shortened while it is in use.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != b"wal":
            raise Unsupported(f"{self._path} is where SQLite can't keep a log; use a local disk")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB:d}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES:d}").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        tables.create(connection, self._tables[META.name])
        if schema is not None:
            self._agree_on_schema(SqliteTransaction(connection, self._now()), schema, unit_id)
        for table in self._tables.values():
            tables.create(connection, table)
        connection.execute("COMMIT")
        # The journal of a single statement has a few megabytes at most, so it needs no file.
        # Indexes are created above: that may sort any number of rows.
        connection.execute("PRAGMA temp_store = MEMORY")

    @property
    def _synchronous(self) -> str:
        # A temporary file need not survive a power failure.
        return "OFF" if self._is_temporary else "FULL"

    def _agree_on_schema(
        self, transaction: SqliteTransaction, schema: Schema, unit_id: str
    ) -> None:
        meta = self._tables[META.name]
        record = meta.unexpired(transaction.read(meta, SCHEMA_ID), transaction.now)
        write = upgrades.opening(record, schema)
        if write is not None:
            steps.prepare(self._tables, Unit(unit_id, (write,))).run(transaction)

    def _connection(self) -> sqlite3.Connection:
        connection = self._connect_with(
            self._path,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
        )
        connection.text_factory = bytes
        connection.execute("PRAGMA mmap_size = 0").fetchall()
        return connection

    def _new_reader(self, now: Callable[[], datetime], cache_kib: int = 2048) -> SqliteReader:
        connection = self._connection()
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA cache_size = -{cache_kib:d}")
        return SqliteReader(connection, self._tables, now)

    async def _call(self, function: Callable[[], T]) -> T:
        """Runs a function on the reader thread. Raises Unavailable when the store is closed."""
        loop = asyncio.get_running_loop()
        try:
            running = loop.run_in_executor(self._reader_thread, function)
        except RuntimeError as error:
            raise Unavailable("the store is closed") from error
        return await running

    async def close(self) -> None:
        await super().close()
        if self._writer is None:
            return
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close(self._writer))
        await asyncio.shield(self._closing)

    async def _close(self, writer: Writer) -> None:
        await writer.close()
        await self._background.close()
        self._reader_thread.shutdown(wait=False)
        self._reader.close()
        self._remove_temporary()

    def _remove_temporary(self) -> None:
        if self._is_temporary:
            shutil.rmtree(os.path.dirname(self._path), ignore_errors=True)

    # Reading. Reads that take microseconds run on the event loop: a thread would take twenty times
    # as long.

    async def get(self, collection: Collection[R], id: str) -> R | None:
        return self._reader.get(collection, id)

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        if len(keys) <= MAX_VALUES_PER_STATEMENT:
            return self._reader.get_many(keys)
        records: list[Any] = []
        async for part in _interleaved(keys):
            records += self._reader.get_many(part)
        return records

    async def find(
        self,
        collection: Collection[R],
        where: Where | None = None,
        *,
        order: str | None = None,
        descending: bool = False,
        limit: int = 100,
        after: Cursor | None = None,
    ) -> Page[R]:
        planned = plan(collection, where, order, limit)
        if planned.narrowed is not None:
            return await self._background.find(
                collection, where, order=order, descending=descending, limit=limit, after=after
            )
        return self._reader.find(collection, planned, descending, limit, after)

    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], limit: int = 2
    ) -> dict[Value, list[R]]:
        if len(values) <= MAX_VALUES_PER_STATEMENT:
            return self._reader.find_each(collection, field, values, limit)
        check_each(values, limit)
        by_value: dict[Value, list[R]] = {}
        async for part in _interleaved(values):
            by_value |= self._reader.find_each(collection, field, part, limit)
        return by_value

    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        return await self._background.count(collection, where, up_to=up_to)

    def scan(
        self, collection: Collection[R], where: Mapping[str, Value] | None = None
    ) -> AsyncIterator[R]:
        return self._background.scan(collection, where)

    async def count_overdue(self, *, up_to: int) -> int:
        return await self._background.count_overdue(up_to)

    async def missing_indexes(self, collections: Sequence[Any]) -> list[str]:
        return await self._call(partial(self._inspection.missing, collections))

    async def engine_version(self) -> str:
        return sqlite3.sqlite_version

    async def file_state(self) -> FileState | None:
        return await self._call(self._inspection.sizes)

    async def find_damage(self, up_to: int) -> list[str]:
        return await self._call(partial(self._inspection.find_damage, up_to))

    @property
    def _inspection(self) -> Inspection:
        return Inspection(self._path, self._connection)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Reader]:
        reader = await self._call(self._begin_snapshot)
        try:
            yield ThreadReader(reader, self._call)
        finally:
            try:
                await self._call(reader.close)
            except Unavailable:  # the store was closed meanwhile
                reader.close()

    def _begin_snapshot(self) -> SqliteReader:
        instant = self._now()
        reader = self._new_reader(lambda: instant)
        reader.begin()
        return reader

    # Writing.

    @asynccontextmanager
    async def loading(self) -> AsyncIterator[None]:
        if self._writer is None:
            raise Unavailable("the store is not open")
        loaded = [table for name, table in self._tables.items() if name != META.name]
        await self._writer.call(partial(loading.begin, loaded=loaded))
        self._chunk_units = loading.MAX_UNITS
        try:
            yield
        finally:
            del self._chunk_units
        # One call for each table: between them, the lease of the loading program is renewed.
        for table in loaded:
            await self._writer.call(partial(loading.make_indexes, table=table))
        finish = partial(loading.finish, path=self._path, synchronous=self._synchronous)
        await self._writer.call(finish)

    async def _write(self, units: list[PreparedUnit]) -> list[Any]:
        """Returns the outcomes: results or errors. Cancelling the caller does not cancel the
        units."""
        if self._writer is None:
            return [Unavailable("the store is not open")] * len(units)
        try:
            with deadline.TimedCall(self._unknown_after_seconds) as seconds:
                entry = self._writer.submit(units)
                return await deadline.wait_for_answer(entry.future, seconds, entry.unknown)
        except Unavailable as error:
            return [error] * len(units)


async def _interleaved(keys: Sequence[T]) -> AsyncIterator[Sequence[T]]:
    """Yields the keys in portions; between two portions, other tasks of the event loop run."""
    for number, part in enumerate(portions(keys)):
        if number:
            await asyncio.sleep(0)
        yield part
