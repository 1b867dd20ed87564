"""The writer's open transaction: rows of tables, and what SQLite says when a key is taken."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Container
from datetime import datetime

from msgspec import Struct

from storage.base import Conflict, StorageError
from storage.sqlite.tables import SqliteTable
from storage.steps import Row

_INDEX = re.compile(r"index '(.+)'")


class SqliteTransaction(Struct, frozen=True):
    """Rows by the statements of their tables, kept as text: SQLite's JSON functions want it so.

    A taken key is an IntegrityError: see `conflict`.
    """

    connection: sqlite3.Connection
    now: datetime

    def read(self, table: SqliteTable, id: str) -> Row | None:
        row: Row | None = self.connection.execute(table.read, (id,)).fetchone()
        return row

    def insert(self, table: SqliteTable, id: str, document: bytes, marks: bytes) -> None:
        self.connection.execute(table.insert, (id, document.decode(), marks.decode()))

    def update(self, table: SqliteTable, id: str, document: bytes, marks: bytes) -> None:
        self.connection.execute(table.update, (document.decode(), marks.decode(), id))

    def mark(self, table: SqliteTable, id: str, document: bytes, marks: bytes) -> None:
        self.connection.execute(table.mark, (marks.decode(), id))

    def delete(self, table: SqliteTable, id: str) -> None:
        self.connection.execute(table.delete, (id,))


def conflict(error: sqlite3.IntegrityError, names: Container[str]) -> StorageError:
    """The key that is taken, from what SQLite says about it."""
    index = _INDEX.search(str(error))
    if index:
        return Conflict(*index[1].split(":", 1))
    table = str(error).rpartition(": ")[2].partition(".")[0]
    return Conflict(table, "id") if table in names else StorageError(str(error))
