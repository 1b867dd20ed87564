"""Stores in memory that begin with every table and index.

Making them takes a third of a start of the service, and most tests start one. Whether a store
makes what it needs is asked in `tests/storage/`.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from storage import Store, open_store
from storage.sqlite import SqliteStore, tables

# The octets of a file without a record, for each set of collections.
_FILES: dict[tuple[Any, ...], bytes] = {}


def open_ready_store(url: str, **clock_and_ids: Any) -> Store:
    """As `open_store`, and ready sooner where the store is in memory."""
    if url == "memory://":
        return ReadyStore(None, **clock_and_ids)
    return open_store(url, **clock_and_ids)


class ReadyStore(SqliteStore):
    """In a temporary directory, where its file is already."""

    def _prepare(self, *schema_and_unit: Any) -> Any:
        sqlite_tables = self._tables.values()
        key = tuple(
            (one.name, one.collection.unique, one.collection.lists) for one in sqlite_tables
        )
        if key not in _FILES:
            _FILES[key] = _file_with(list(sqlite_tables))
        Path(self._path).write_bytes(_FILES[key])
        return super()._prepare(*schema_and_unit)


def _file_with(sqlite_tables: list[tables.SqliteTable]) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store.sqlite3"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            for table in sqlite_tables:
                tables.create(connection, table)
            connection.commit()
        return path.read_bytes()
