"""What one write does inside the writer's transaction. Everything is encoded by then."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from storage.base import (
    COUNTERS,
    MARKS_KEPT,
    MAX_RECORD_BYTES,
    Conflict,
    Counter,
    Delete,
    Insert,
    InvalidValue,
    Stale,
    Unit,
    Update,
    Write,
)
from storage.codec import INT_MAX, INT_MIN, check_unit, cut, encode, encode_value, instant_text
from storage.sqlite.tables import Table, Tables

Path: TypeAlias = tuple[str, ...]
Change: TypeAlias = tuple[Path, Any]


class Transaction(Struct, frozen=True):
    """The writer's open transaction, and the instant that judges expiry in it."""

    connection: sqlite3.Connection
    now: datetime


class InsertStep(Struct, frozen=True):
    table: Table
    id: str
    document: str

    def run(self, transaction: Transaction, mark: str) -> None:
        execute = transaction.connection.execute
        values = (self.id, self.document, mark)
        if not self.table.expires:
            execute(self.table.insert, values)
            return
        now = instant_text(transaction.now)
        if execute(self.table.replace_expired, (*values, now)).rowcount != 1:
            raise Conflict(self.table.name, "id")


class UpdateStep(Struct, frozen=True):
    table: Table
    id: str
    set: list[Change]
    increment: list[Change]
    expect: list[Change]

    def run(self, transaction: Transaction, mark: str) -> None:
        execute = transaction.connection.execute
        document, marks = _read(transaction, self.table, self.id)
        self._check(document)
        if not self.set and not self.increment:
            execute(self.table.mark, (_marked(marks, mark), self.id))
            return
        self._change(document)
        text = msgspec.json.encode(document)
        if len(text) > MAX_RECORD_BYTES:
            raise InvalidValue(f"a record of {len(text)} bytes is over {MAX_RECORD_BYTES}")
        execute(self.table.update, (text.decode(), _marked(marks, mark), self.id))

    def _check(self, document: dict[str, Any]) -> None:
        _expect(self.table, self.id, document, self.expect)

    def _change(self, document: dict[str, Any]) -> None:
        for path, value in self.set:
            parent = _parent(self.table, self.id, document, path)
            if value is None:
                parent.pop(path[-1], None)
            else:
                parent[path[-1]] = value
        for path, by in self.increment:
            parent = _parent(self.table, self.id, document, path)
            parent[path[-1]] = _sum(parent.get(path[-1]) or 0, by)


class DeleteStep(Struct, frozen=True):
    table: Table
    id: str
    expect: list[Change]

    def run(self, transaction: Transaction, mark: str) -> None:
        if self.expect:
            document, _ = _read(transaction, self.table, self.id)
            _expect(self.table, self.id, document, self.expect)
        transaction.connection.execute(self.table.delete, (self.id,))


class CountStep(Struct, frozen=True):
    table: Table
    id: str
    by: int
    window: timedelta

    def run(self, transaction: Transaction, mark: str) -> Counter:
        row = transaction.connection.execute(self.table.get, (self.id,)).fetchone()
        kept = self.table.decode(row[0]) if row else None
        if kept is not None and kept.expires_at > transaction.now:
            counter = Counter(_sum(kept.n, self.by), kept.expires_at)
        else:
            counter = Counter(self.by, cut(transaction.now + self.window))
        plain = {"id": self.id, "n": counter.n, "expires_at": instant_text(counter.resets_at)}
        document = msgspec.json.encode(plain).decode()
        if row:
            transaction.connection.execute(self.table.update, (document, mark, self.id))
        else:
            transaction.connection.execute(self.table.insert, (self.id, document, mark))
        return counter


class MarksStep(Struct, frozen=True):
    """Whether any record of a unit carries its mark. In the queue's order, so that it is final."""

    keys: list[tuple[Table, str]]
    mark: str

    def run(self, transaction: Transaction, mark: str) -> bool:
        for table, id in self.keys:
            row = transaction.connection.execute(table.read, (id,)).fetchone()
            if row and self.mark in row[1].decode().split():
                return True
        return False


Step: TypeAlias = InsertStep | UpdateStep | DeleteStep | CountStep | MarksStep


class Prepared(Struct, frozen=True):
    """A unit that was checked and encoded, ready for the writer."""

    unit: Unit
    steps: tuple[Step, ...]


def prepare(tables: Tables, unit: Unit) -> Prepared:
    """Check and encode; raises InvalidValue and Undeclared."""
    check_unit(unit.writes)
    return Prepared(unit, tuple(_step(tables, write) for write in unit.writes))


def prepare_increment(
    tables: Tables, unit_id: str, key: str, by: int, window: timedelta
) -> Prepared:
    step = CountStep(tables[COUNTERS.name], key, encode_value(by, instant_text), window)
    return Prepared(Unit(unit_id, ()), (step,))


def prepare_applied(tables: Tables, unit_id: str, unit: Unit) -> Prepared:
    lasting = [write for write in unit.writes if not isinstance(write, Delete)]
    keys = [(tables[write.collection.name], write.id) for write in lasting]
    return Prepared(Unit(unit_id, ()), (MarksStep(keys, unit.id),))


def _step(tables: Tables, write: Write) -> Step:
    table = tables[write.collection.name]
    if isinstance(write, Insert):
        document = msgspec.json.encode(encode(write.record, instant_text))
        return InsertStep(table, write.id, document.decode())
    if isinstance(write, Update):
        return UpdateStep(
            table,
            write.id,
            _changes(write.set),
            _changes(write.increment),
            _changes(write.expect),
        )
    return DeleteStep(table, write.id, _changes(write.expect))


def _changes(values: Mapping[str, object]) -> list[Change]:
    return [
        (tuple(path.split(".")), encode_value(value, instant_text))
        for path, value in values.items()
    ]


def _read(transaction: Transaction, table: Table, id: str) -> tuple[dict[str, Any], bytes]:
    row = transaction.connection.execute(table.read, (id,)).fetchone()
    if row is None:
        raise Stale(table.name, id)
    document = msgspec.json.decode(row[0])
    if table.expires and document["expires_at"] <= instant_text(transaction.now):
        raise Stale(table.name, id)
    return document, row[1]


def _expect(table: Table, id: str, document: dict[str, Any], expect: list[Change]) -> None:
    for path, value in expect:
        stored = _parent(table, id, document, path).get(path[-1])
        if stored != value or type(stored) is not type(value):
            raise Stale(table.name, id)


def _parent(table: Table, id: str, document: dict[str, Any], path: Path) -> dict[str, Any]:
    parent: Any = document
    for name in path[:-1]:
        parent = parent.get(name)
        if type(parent) is not dict:
            raise Stale(table.name, id)
    return parent  # type: ignore[no-any-return]


def _sum(n: int, by: int) -> int:
    if not INT_MIN <= n + by <= INT_MAX:
        raise InvalidValue("a number beyond 64 bits can't be stored")
    return n + by


def _marked(marks: bytes, mark: str) -> str:
    return " ".join([*marks.decode().split()[1 - MARKS_KEPT :], mark])
