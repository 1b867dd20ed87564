"""The writer's open transaction: rows of tables, and the interpretation of SQLite's errors for
taken keys.
"""

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
    """The open transaction of the writer, with operations on single rows.

    Rows are stored as text, as SQLite's JSON functions require. A taken key raises
    sqlite3.IntegrityError: see `conflict`.
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
    """Returns the storage error for a taken key, which is read from SQLite's message.

    `names` are the names of the tables; the error is no Conflict if the message names none of
    them.
    """
    index = _INDEX.search(str(error))
    if index:
        return Conflict(*index[1].split(":", 1))
    table = str(error).rpartition(": ")[2].partition(".")[0]
    return Conflict(table, "id") if table in names else StorageError(str(error))
