"""Tables and indexes: one table per collection, in which each record is one JSON document.

Unique keys and declared lists are indexes on expressions over the document, so that a list added
later needs no change of any record. `marks` is the column after the document, so that reading a
record does not load it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any

from storage import steps
from storage.base import (
    Collection,
    InvalidValue,
    Unsupported,
)

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*", re.ASCII)
_CREATE = """CREATE TABLE IF NOT EXISTS {table}
    (id TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL, marks TEXT NOT NULL)"""
_INSERT = "INSERT INTO {table}(id, doc, marks) VALUES (?, ?, ?)"
_INSERT_ALL = "INSERT OR ROLLBACK INTO {table}(id, doc, marks) VALUES {rows}"
_ROW = "(?, ?, ?)"


class SqliteTable(steps.Table):
    """One collection's table, with the SQL statements that read and write a single row."""

    def __init__(self, collection: Collection[Any]) -> None:
        super().__init__(collection)
        self.get = statement("SELECT doc FROM {table} WHERE id = ?", self.name)
        self.read = statement("SELECT doc, marks FROM {table} WHERE id = ?", self.name)
        self.insert = statement(_INSERT, self.name)
        self.update = statement("UPDATE {table} SET doc = ?, marks = ? WHERE id = ?", self.name)
        self.mark = statement("UPDATE {table} SET marks = ? WHERE id = ?", self.name)
        self.delete = statement("DELETE FROM {table} WHERE id = ?", self.name)


Tables = steps.Tables[SqliteTable]


def statement(template: str, table: str, **parts: str) -> str:
    """Returns the SQL of a template with the name of the table and `parts` inserted for its
    placeholders. Only names that collections declare may be inserted; values are always
    parameters."""
    return template.format(table=f'"{_checked_name(table)}"', **parts)


@cache
def insert_statement(table: str, count: int) -> str:
    """Returns the statement that inserts `count` records or rolls the transaction back."""
    return statement(_INSERT_ALL, table, rows=", ".join([_ROW] * count))


def expression(field: str) -> str:
    """Returns the SQL expression for the value of a record's field.

    It is the same text in indexes and queries, or SQLite would not use the index.
    """
    return "id" if field == "id" else f"json_extract(doc, '$.{_checked_name(field)}')"


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidValue(f"{name!r} can't name a collection or a field")
    return name


def create(connection: sqlite3.Connection, table: SqliteTable) -> None:
    """Creates the table and its missing indexes, and drops obsolete ones.

    Runs inside a transaction.
    """
    connection.execute(statement(_CREATE, table.name))
    for fields in table.collection.narrowed:
        name = f'"{_list_name(table, fields)}"'
        connection.execute(statement("DROP INDEX IF EXISTS {name}", table.name, name=name))
    for name, sql in _indexes(table):
        _create_index(connection, name, sql)


def index_names(table: SqliteTable) -> list[str]:
    """Returns the names of the table's indexes, besides that of its ids."""
    return [name for name, _ in _indexes(table)]


def _indexes(table: SqliteTable) -> list[tuple[str, str]]:
    """Returns names and statements of the indexes.

    A unique key's index is named so that an error message contains the field.
    """
    indexes = []
    for field in table.collection.unique:
        name = f"{table.name}:{field}"
        indexes.append(_index("CREATE UNIQUE INDEX {name} ON {table}({on})", table, name, [field]))
    for fields in table.collection.lists:
        name = _list_name(table, fields)
        ordered = list(dict.fromkeys((*fields, "id")))
        indexes.append(_index("CREATE INDEX {name} ON {table}({on})", table, name, ordered))
    if table.collection.is_swept_soon:
        fields = ("expires_at",)
        name = _list_name(table, fields)
        indexes.append(_index("CREATE INDEX {name} ON {table}({on})", table, name, fields))
    return indexes


def _list_name(table: SqliteTable, fields: Sequence[str]) -> str:
    return f"{table.name}/{'+'.join(map(_checked_name, fields))}"


def _index(template: str, table: SqliteTable, name: str, fields: Sequence[str]) -> tuple[str, str]:
    expressions = ", ".join(expression(field) for field in fields)
    return name, statement(template, table.name, name=f'"{name}"', on=expressions)


def _create_index(connection: sqlite3.Connection, name: str, sql: str) -> None:
    existing = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,))
    if existing.fetchone():
        return
    try:
        connection.execute(sql)
    except sqlite3.IntegrityError as error:
        raise Unsupported(f"{name} is not unique in what is stored: {error}") from error
