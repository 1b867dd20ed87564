"""Stores in memory that begin with every table and index, or with what a first start has stored.

Making that takes most of a start of the service, and most tests start one. Whether a store makes
what it needs is asked in `tests/storage/`, and what a first start stores in `tests/idp/start/`.
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


def open_ready_store(url: str, content: bytes | None = None, **clock_and_ids: Any) -> Store:
    """As `open_store`, and ready sooner where the store is in memory. `content` is that of a file
    with which it begins."""
    if url == "memory://":
        return ReadyStore(content, **clock_and_ids)
    return open_store(url, **clock_and_ids)


def content_of(store: SqliteStore) -> bytes:
    """The content of the store's file, with all that was committed."""
    with closing(sqlite3.connect(store._path)) as connection:
        return connection.serialize()


class ReadyStore(SqliteStore):
    """In a temporary directory, where its file is already."""

    def __init__(self, content: bytes | None, **clock_and_ids: Any) -> None:
        super().__init__(None, **clock_and_ids)
        self._content = content

    def _prepare(self, *schema_and_unit: Any) -> Any:
        if self._content is not None:
            Path(self._path).write_bytes(self._content)
            return super()._prepare(*schema_and_unit)
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
