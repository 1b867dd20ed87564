"""Clearing away what expired long ago. Nothing depends on it: reads judge by the clock."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from typing import Final

from storage.codec import instant_text
from storage.sqlite.tables import Tables, statement

_KEPT: Final = timedelta(hours=24)
_ROWS: Final = 500
_SLICE = """SELECT count(*), max(id) FROM
    (SELECT id FROM {table} WHERE id > ? ORDER BY id LIMIT ?)"""
_DELETE = """DELETE FROM {table} WHERE id > ? AND id <= ?
    AND json_extract(doc, '$.expires_at') < ?"""


class Sweeper:
    """Goes round the expiring tables in slices of bounded work, without an index."""

    def __init__(self, tables: Tables) -> None:
        self._after = {table.name: "" for table in tables.values() if table.expires}

    def turn(self, connection: sqlite3.Connection, now: datetime) -> None:
        """Sweep the next slice of every expiring table, in a transaction of its own."""
        before = instant_text(now - _KEPT)
        for table, after in self._after.items():
            rows, last = connection.execute(statement(_SLICE, table), (after, _ROWS)).fetchone()
            if rows:
                end = last.decode()
                connection.execute(statement(_DELETE, table), (after, end, before))
            self._after[table] = end if rows == _ROWS else ""
