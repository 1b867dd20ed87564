"""Synchronous reads over one connection, and a class that runs them on the reader thread."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from storage.base import (
    COUNT_CAP,
    Collection,
    Cursor,
    Key,
    Page,
    R,
    Reader,
    Unavailable,
    Value,
    Where,
)
from storage.codec import instant_text
from storage.lists import Plan, check_scan, plan, plan_count, plan_each
from storage.sqlite import queries, sweep
from storage.sqlite.tables import SqliteTable, Tables

T = TypeVar("T")
MAX_VALUES_PER_STATEMENT: Final = 100  # keys or values per statement
MAX_SCANNED: Final = 20_000  # records that are read for a page, in a tenth of a second
_SLICE_ROWS: Final = 500
_SLICE_BYTES: Final = 1024 * 1024


class Caller(Protocol):
    """A callable that runs `function` on the reader thread; the awaitable has its result."""

    def __call__(self, function: Callable[[], T]) -> Awaitable[T]: ...


class SqliteReader:
    """Synchronous reads. Expiry is decided by `now`; errors of the engine become Unavailable."""

    def __init__(
        self, connection: sqlite3.Connection, tables: Tables, now: Callable[[], datetime]
    ) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._tables = tables
        self._now = now

    def get(self, collection: Collection[R], id: str) -> R | None:
        table = self._tables[collection.name]
        try:
            row = self._execute(table.get, (id,)).fetchone()
        except sqlite3.Error as error:
            raise unavailable(error) from error
        except UnicodeEncodeError:
            return None  # no stored id has a lone surrogate
        if row is None:
            return None
        record = table.decode(row[0])
        return None if table.expires and record.expires_at <= self._now() else record

    def get_many(self, keys: Sequence[Key]) -> list[Any]:
        return [record for part in portions(keys) for record in self._get_few(part)]

    def _get_few(self, keys: Sequence[Key]) -> list[Any]:
        records: list[Any] = [None] * len(keys)
        now, tables = self._now(), [self._tables[collection.name] for collection, _ in keys]
        sql = queries.get_many(tuple([table.name for table in tables]))
        ids = [record_id if record_id.isascii() else _findable(record_id) for _, record_id in keys]
        for position, document in self._rows(sql, ids):
            table = tables[position]
            record = table.decode(document)
            if not table.expires or record.expires_at > now:
                records[position] = record
        return records

    def find(
        self,
        collection: Collection[R],
        planned: Plan,
        descending: bool,
        limit: int,
        after: Cursor | None,
    ) -> Page[R]:
        table = self._tables[collection.name]
        for scan_plan in self.scan_plans(table, planned):
            documents = self._documents(table, planned, scan_plan, descending, limit, after)
            if documents is not None:
                break
        assert documents is not None  # noqa: S101 - the last plan has no limit
        return planned.page([table.decode(document) for document in documents], limit)

    def _documents(
        self,
        table: SqliteTable,
        planned: Plan,
        scan_plan: queries.ScanPlan,
        descending: bool,
        limit: int,
        after: Cursor | None,
    ) -> list[bytes] | None:
        """Returns the documents of a page, and one more if there are more; None if this plan reads
        too many documents."""
        base_conditions = queries.matching(planned.equal, self._expiry_bound(table))
        documents: list[bytes] = []
        for step, order in queries.steps(planned, descending, after):
            sql, values = queries.page(
                table.name, base_conditions + step, order, descending, scan_plan
            )
            documents += [row[0] for row in self._rows(sql, [*values, limit + 1 - len(documents)])]
            if len(documents) > limit:
                break
            if (
                scan_plan.max_records is not None
                and self._limited_count(table, scan_plan.index_conditions(base_conditions + step))
                > scan_plan.max_records
            ):
                return None
        return documents

    def scan_plans(self, table: SqliteTable, planned: Plan) -> Sequence[queries.ScanPlan]:
        """Returns the plans to try in this order for reading a list; SQLite can't choose one
        itself, because it stores no counts.

        If no more records have the narrowing value than the list has, or than one page may read,
        they are found by that value and sorted. Else, if the list is short enough, its records are
        filtered in order. If there are too many of both, filtering a limited number of records is
        tried first.
        """
        if planned.narrowed is None:
            return (queries.BY_INDEX,)
        narrowing = {planned.narrowed: planned.equal[planned.narrowed]}
        remaining = {name: value for name, value in planned.equal.items() if name not in narrowing}
        ((bounds, _),) = queries.steps(planned, False, None)  # without a cursor there is one step
        with_value_count = self._limited_count(table, queries.matching(narrowing, None))
        listed_count = self._limited_count(table, [*queries.matching(remaining, None), *bounds])
        sort_plan = queries.ScanPlan(without=(*remaining, *planned.fields))
        filter_plan = queries.ScanPlan(without=(planned.narrowed,))
        if with_value_count <= min(listed_count, MAX_SCANNED):
            return (sort_plan,)
        if listed_count <= MAX_SCANNED:
            return (filter_plan,)
        return (filter_plan._replace(max_records=MAX_SCANNED), sort_plan)

    def _limited_count(self, table: SqliteTable, conditions: list[queries.Condition]) -> int:
        """Returns the number of matching records, at most one more than MAX_SCANNED."""
        sql, values = queries.count(table.name, conditions)
        return int(self._rows(sql, [*values, MAX_SCANNED + 1])[0][0])

    def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], limit: int
    ) -> dict[Value, list[R]]:
        table = self._tables[collection.name]
        planned = plan_each(collection, field, values, limit)
        sql, bound = queries.by_values(table.name, planned, self._expiry_bound(table))
        return planned.answer([table.decode(row[0]) for row in self._rows(sql, bound)])

    def count(self, collection: Collection[Any], where: Where | None, up_to: int) -> int:
        planned = plan_count(collection, where)
        table = self._tables[collection.name]
        conditions = queries.matching(planned.equal, self._expiry_bound(table))
        for step, _ in queries.steps(planned, False, None):
            conditions += step
        scan_plan = self.scan_plans(table, planned)[0]
        sql, values = queries.count(table.name, conditions, scan_plan)
        return int(self._rows(sql, [*values, max(up_to, 0)])[0][0])

    def slice(
        self, collection: Collection[R], equal: dict[str, Any], after: str
    ) -> tuple[list[R], str | None]:
        """Reads a limited number of rows after the id `after`, and returns those of their records
        that have the values `equal`, with the `after` of the next call (None at the end of the
        table)."""
        table = self._tables[collection.name]
        sql, values = queries.scan(table.name, queries.matching(equal, self._expiry_bound(table)))
        records: list[R] = []
        rows = size = 0
        try:
            cursor = self._execute(sql, [*values, after, _SLICE_ROWS])
            for record_id, document in cursor:
                rows += 1
                after = record_id.decode()
                if document is not None:
                    records.append(table.decode(document))
                    size += len(document)
                if size > _SLICE_BYTES:
                    cursor.close()
                    return records, after
        except sqlite3.Error as error:
            raise unavailable(error) from error
        return records, after if rows == _SLICE_ROWS else None

    def count_overdue(self, up_to: int) -> int:
        try:
            return sweep.count_overdue(self._connection, self._tables, self._now(), up_to)
        except sqlite3.Error as error:
            raise unavailable(error) from error

    def begin(self) -> None:
        """Starts a transaction: all reads see the state of this moment until `close`."""
        self._rows("BEGIN", [])
        # The transaction's state is that of its first read.
        self._rows("SELECT 1 FROM sqlite_master LIMIT 1", [])

    def close(self) -> None:
        self._connection.close()

    def _expiry_bound(self, table: SqliteTable) -> str | None:
        return instant_text(self._now()) if table.expires else None

    def _rows(self, sql: str, values: Sequence[Any]) -> list[Any]:
        try:
            return self._execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise unavailable(error) from error


def portions(keys: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yields the keys in portions of at most AT_ONCE, as many as one statement takes."""
    return (
        keys[start : start + MAX_VALUES_PER_STATEMENT]
        for start in range(0, len(keys), MAX_VALUES_PER_STATEMENT)
    )


def unavailable(error: sqlite3.Error) -> Unavailable:
    return Unavailable(f"SQLite: {error}")


def _findable(record_id: str) -> str | None:
    """Returns the id, or None when no record can have it: SQLite accepts no lone surrogate."""
    return None if any("\ud800" <= character <= "\udfff" for character in record_id) else record_id


class ThreadReader(Reader):
    """Reads a store with `reader`, each of whose calls `call` runs on the reader thread."""

    def __init__(self, reader: SqliteReader, call: Caller) -> None:
        self._reader = reader
        self._call = call

    async def close(self) -> None:
        await self._call(self._reader.close)

    async def get(self, collection: Collection[R], id: str) -> R | None:
        return await self._call(partial(self._reader.get, collection, id))

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        return await self._call(partial(self._reader.get_many, keys))

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
        read = partial(self._reader.find, collection, planned, descending, limit, after)
        return await self._call(read)

    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], limit: int = 2
    ) -> dict[Value, list[R]]:
        return await self._call(partial(self._reader.find_each, collection, field, values, limit))

    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        return await self._call(partial(self._reader.count, collection, where, up_to))

    async def count_overdue(self, up_to: int) -> int:
        """Returns the number of expired rows that were due for removal an hour ago, at most
        `up_to`."""
        return await self._call(partial(self._reader.count_overdue, up_to))

    async def scan(
        self, collection: Collection[R], where: Mapping[str, Value] | None = None
    ) -> AsyncIterator[R]:
        equal = check_scan(collection, where)
        after: str | None = ""
        while after is not None:
            read = partial(self._reader.slice, collection, equal, after)
            records, after = await self._call(read)
            for record in records:
                yield record
