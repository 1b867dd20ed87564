"""The state of a store's file for operators: missing indexes, sizes, damage."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from storage.base import Collection, Unavailable
from storage.condition import FileState
from storage.sqlite import tables
from storage.sqlite.reader import unavailable


class Inspection:
    """Reads a file by connections of its own, which `connect` opens. The methods are synchronous;
    errors of the engine become Unavailable.
    """

    def __init__(self, path: str, connect: Callable[[], sqlite3.Connection]) -> None:
        self._path = path
        self._connect = connect

    def missing(self, collections: Sequence[Collection[Any]]) -> list[str]:
        """Returns the names of the tables and indexes that are not in the file."""
        existing = {row[0].decode() for row in self._rows("SELECT name FROM sqlite_master")}
        declared = [
            name for collection in collections for name in _names(tables.SqliteTable(collection))
        ]
        return [name for name in declared if name not in existing]

    def sizes(self) -> FileState:
        """Returns the sizes of the file, of its free pages and of its log."""
        ((page_bytes,),) = self._rows("PRAGMA page_size")
        ((pages,),) = self._rows("PRAGMA page_count")
        ((free,),) = self._rows("PRAGMA freelist_count")
        try:
            log_bytes = os.path.getsize(f"{self._path}-wal")
        except OSError:  # there is no log if nothing was written since the opening
            log_bytes = 0
        return FileState(pages * page_bytes, free * page_bytes, log_bytes)

    def find_damage(self, up_to: int) -> list[str]:
        """Returns descriptions of the damage of the file, at most `up_to` sentences."""
        try:
            rows = self._rows(f"PRAGMA integrity_check({up_to:d})")
        except Unavailable as error:
            code = getattr(error.__cause__, "sqlite_errorcode", 0)
            if code & 0xFF != sqlite3.SQLITE_CORRUPT:
                raise
            return [str(error)]  # so damaged that the check ends
        problems = [row[0].decode() for row in rows]
        return [] if problems == ["ok"] else problems

    def _rows(self, sql: str) -> list[Any]:
        try:
            with closing(self._connect()) as connection:
                connection.execute("PRAGMA query_only = ON")
                return connection.execute(sql).fetchall()
        except sqlite3.Error as error:
            raise unavailable(error) from error


def _names(table: tables.SqliteTable) -> list[str]:
    return [table.name, *tables.index_names(table)]
