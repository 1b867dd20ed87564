"""Tables and indexes: one table per collection, a record being one JSON document.

Unique keys and declared lists are indexes on expressions over the document, so that a list added
later needs no change of any record. `marks` comes after the document, so that reading a record
doesn't pay for it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from storage.base import (
    COUNTERS,
    META,
    Collection,
    Conflict,
    InvalidValue,
    MetaRecord,
    Schema,
    StorageError,
    TooNew,
    Undeclared,
    Unsupported,
)
from storage.codec import check_collection

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*", re.ASCII)
_INDEX = re.compile(r"index '(.+)'")
_CREATE = """CREATE TABLE IF NOT EXISTS {table}
    (id TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL, marks TEXT NOT NULL)"""
_REPLACE_EXPIRED = """INSERT INTO {table}(id, doc, marks) VALUES (?, ?, ?)
    ON CONFLICT(id) DO UPDATE SET doc = excluded.doc, marks = excluded.marks
    WHERE json_extract(doc, '$.expires_at') <= ?"""
_PUT_SCHEMA = "INSERT OR REPLACE INTO meta(id, doc, marks) VALUES (?, ?, '')"


class Table:
    """One collection's table: its names, its frequent statements and its decoder."""

    def __init__(self, collection: Collection[Any]) -> None:
        check_collection(collection)
        self.collection = collection
        self.name = collection.name
        self.expires = collection.expires
        self.decode: Callable[[bytes], Any] = msgspec.json.Decoder(collection.record).decode
        self.get = statement("SELECT doc FROM {table} WHERE id = ?", self.name)
        self.read = statement("SELECT doc, marks FROM {table} WHERE id = ?", self.name)
        self.insert = statement("INSERT INTO {table}(id, doc, marks) VALUES (?, ?, ?)", self.name)
        self.replace_expired = statement(_REPLACE_EXPIRED, self.name)
        self.update = statement("UPDATE {table} SET doc = ?, marks = ? WHERE id = ?", self.name)
        self.mark = statement("UPDATE {table} SET marks = ? WHERE id = ?", self.name)
        self.delete = statement("DELETE FROM {table} WHERE id = ?", self.name)


class Tables(dict[str, Table]):
    """Tables by collection name."""

    def __init__(self, collections: Sequence[Collection[Any]]) -> None:
        super().__init__((c.name, Table(c)) for c in (*collections, META, COUNTERS))

    def __missing__(self, name: str) -> Table:
        raise Undeclared(f"the store was opened without the collection {name!r}")


def statement(template: str, table: str, **parts: str) -> str:
    """SQL made of declared names only; values are always parameters."""
    return template.format(table=f'"{_checked(table)}"', **parts)


def expression(field: str) -> str:
    """A field's value. Written alike everywhere, or SQLite would not use the index."""
    return "id" if field == "id" else f"json_extract(doc, '$.{_checked(field)}')"


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidValue(f"{name!r} can't name a collection or a field")
    return name


def prepare(connection: sqlite3.Connection, tables: Tables, schema: Schema) -> None:
    """Refuse a store that is too new, then create what is missing. Inside a transaction."""
    connection.execute(statement(_CREATE, META.name))
    _agree(connection, tables[META.name], schema)
    for table in tables.values():
        connection.execute(statement(_CREATE, table.name))
        for name, sql in _indexes(table):
            _create_index(connection, name, sql)


def _agree(connection: sqlite3.Connection, meta: Table, ours: Schema) -> None:
    row = connection.execute(meta.get, ("schema",)).fetchone()
    stored: Schema | MetaRecord = meta.decode(row[0]) if row else Schema(0, 0)
    if stored.oldest_reader > ours.version:
        raise TooNew(
            f"the store needs a program of schema version {stored.oldest_reader} or later;"
            f" this one has {ours.version}"
        )
    agreed = MetaRecord(
        id="schema",
        version=max(stored.version, ours.version),
        oldest_reader=max(stored.oldest_reader, ours.oldest_reader),
    )
    if agreed != stored:
        connection.execute(_PUT_SCHEMA, ("schema", msgspec.json.encode(agreed).decode()))


def _indexes(table: Table) -> list[tuple[str, str]]:
    """Names and statements. A unique key's index is named so that a conflict tells its field."""
    indexes = []
    for field in table.collection.unique:
        name = f"{table.name}:{field}"
        indexes.append(_index("CREATE UNIQUE INDEX {name} ON {table}({on})", table, name, [field]))
    for fields in table.collection.lists:
        name = f"{table.name}/{'+'.join(fields)}"
        ordered = list(dict.fromkeys((*fields, "id")))
        indexes.append(_index("CREATE INDEX {name} ON {table}({on})", table, name, ordered))
    return indexes


def _index(template: str, table: Table, name: str, fields: Sequence[str]) -> tuple[str, str]:
    on = ", ".join(expression(field) for field in fields)
    return name, statement(template, table.name, name=f'"{name}"', on=on)


def _create_index(connection: sqlite3.Connection, name: str, sql: str) -> None:
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,))
    if known.fetchone():
        return
    try:
        connection.execute(sql)
    except sqlite3.IntegrityError as error:
        raise Unsupported(f"{name} is not unique in what is stored: {error}") from error


def conflict(error: sqlite3.IntegrityError, names: Mapping[str, Table]) -> StorageError:
    """The key that is taken, from what SQLite says about it."""
    index = _INDEX.search(str(error))
    if index:
        return Conflict(*index[1].split(":", 1))
    table = str(error).rpartition(": ")[2].partition(".")[0]
    return Conflict(table, "id") if table in names else StorageError(str(error))
