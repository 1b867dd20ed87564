"""Removal of expired rows. Reads do not depend on it: they compare with the clock."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from storage.codec import instant_text
from storage.condition import OVERDUE_AFTER
from storage.sqlite.tables import Tables, statement

_RETENTION: Final = timedelta(days=1)
SLICE_SECONDS: Final = 0.01
ROWS_PER_SECOND: Final = 5000
_ROWS: Final = 500
_ROWS_PER_DELETE: Final = 50  # few enough to end a slice in time
_SLICE = """SELECT count(*), max(id) FROM
    (SELECT id FROM {table} WHERE id > ? ORDER BY id LIMIT ?)"""
_DELETE = """DELETE FROM {table} WHERE id > ? AND id <= ?
    AND json_extract(doc, '$.expires_at') < ?"""
_HAS_EXPIRED = "SELECT 1 FROM {table} WHERE json_extract(doc, '$.expires_at') < ? LIMIT 1"
_DELETE_OLDEST = """DELETE FROM {table} WHERE rowid IN
    (SELECT rowid FROM {table} WHERE json_extract(doc, '$.expires_at') < ?
    ORDER BY json_extract(doc, '$.expires_at') LIMIT ?)"""


_MAX_COUNTED_ROWS: Final = 20_000  # counted rows of a table without an index by expiry
_COUNT_EXPIRED = """SELECT count(*) FROM (SELECT 1 FROM {table}
    WHERE json_extract(doc, '$.expires_at') < ? LIMIT ?)"""
_COUNT_EXPIRED_OF_FIRST = """SELECT count(*) FROM (SELECT doc FROM {table} ORDER BY id LIMIT ?)
    WHERE json_extract(doc, '$.expires_at') < ?"""


def count_overdue(
    connection: sqlite3.Connection, tables: Tables, now: datetime, up_to: int
) -> int:
    """Returns the number of expired rows that were due for removal an hour ago, at most
    `up_to`."""
    total = 0
    for table in tables.values():
        if not table.expires or total >= up_to:
            continue
        retention = table.collection.retention if table.collection.is_swept_soon else _RETENTION
        before = instant_text(now - retention - OVERDUE_AFTER)
        if table.collection.is_swept_soon:
            cursor = connection.execute(statement(_COUNT_EXPIRED, table.name), (before, up_to))
        else:
            sql = statement(_COUNT_EXPIRED_OF_FIRST, table.name)
            cursor = connection.execute(sql, (_MAX_COUNTED_ROWS, before))
        total += cursor.fetchone()[0]
    return min(total, up_to)


class Sweeper:
    """Removes expired rows, a limited number at a time.

    Most expiring tables have no index by expiry: `remove_slice` goes through their rows in a
    cycle. Those whose rows are removed within a day have one, which `remove_oldest` uses.
    `take_removed` returns the numbers of removed rows.
    """

    def __init__(self, tables: Tables) -> None:
        expiring = [table for table in tables.values() if table.expires]
        self._after = {table.name: "" for table in expiring if not table.collection.is_swept_soon}
        self._retentions = {
            table.name: table.collection.retention
            for table in expiring
            if table.collection.is_swept_soon
        }
        self._removed: Counter[str] = Counter()

    def take_removed(self) -> dict[str, int]:
        """Returns the number of rows of each table that were removed since the last call."""
        removed, self._removed = self._removed, Counter()
        return dict(removed)

    def remove_slice(
        self, connection: sqlite3.Connection, now: datetime, tables: int | None = None
    ) -> None:
        """Removes expired rows from the next slice of every table without an index by expiry, or
        of only `tables` of these tables, which take turns; each slice in a transaction of its own.
        """
        before = instant_text(now - _RETENTION)
        for table in list(self._after)[:tables]:
            after = self._after.pop(table)  # it is appended again, as the last one
            rows, last = connection.execute(statement(_SLICE, table), (after, _ROWS)).fetchone()
            if rows:
                end = last.decode()
                delete = statement(_DELETE, table)
                self._count(table, connection.execute(delete, (after, end, before)).rowcount)
            self._after[table] = end if rows == _ROWS else ""

    def has_expired(self, connection: sqlite3.Connection, now: datetime) -> bool:
        """Returns whether the tables with an index by expiry have rows to remove. Reads at
        most one row per table.
        """
        return any(
            connection.execute(statement(_HAS_EXPIRED, table), (before,)).fetchone()
            for table, before in self._limits(now)
        )

    def remove_oldest(self, connection: sqlite3.Connection, now: datetime) -> int:
        """Removes the oldest rows of the tables with an index by expiry, for `SLICE_SECONDS`;
        returns their number.
        """
        ends_at, removed = time.monotonic() + SLICE_SECONDS, 0
        for table, before in self._limits(now):
            delete, rows = statement(_DELETE_OLDEST, table), _ROWS_PER_DELETE
            while rows == _ROWS_PER_DELETE:
                rows = connection.execute(delete, (before, _ROWS_PER_DELETE)).rowcount
                removed += rows
                self._count(table, rows)
                if time.monotonic() >= ends_at:
                    return removed
        return removed

    def _count(self, table: str, rows: int) -> None:
        if rows:
            self._removed[table] += rows

    def _limits(self, now: datetime) -> list[tuple[str, str]]:
        return [
            (table, instant_text(now - retention)) for table, retention in self._retentions.items()
        ]
