"""Units as steps on encoded records, for back ends that read and change a record in the program,
before they write it.

A *row* is a record as JSON, and its marks: the ids of the last units that wrote it. A back end
provides its tables, prepares a unit before it queues it, and runs the steps inside a transaction
of its own, which it rolls back when a step raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NoReturn, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from storage.base import (
    COUNTERS,
    MAX_MARKS,
    MAX_RECORD_BYTES,
    META,
    Collection,
    Conflict,
    Counter,
    Delete,
    Insert,
    InvalidValue,
    Stale,
    Unavailable,
    Undeclared,
    Unit,
    Update,
    Write,
)
from storage.codec import (
    INT_MAX,
    INT_MIN,
    check_collection,
    check_count,
    check_unit,
    encode_json,
    encode_values,
    instant_text,
    truncated,
)

Path: TypeAlias = tuple[str, ...]
Change: TypeAlias = tuple[Path, Any]
Row: TypeAlias = tuple[bytes, bytes]


class Table:
    """A back end's table of a collection; subclasses add statements."""

    def __init__(self, collection: Collection[Any]) -> None:
        check_collection(collection)
        self.collection = collection
        self.name = collection.name
        self.expires = collection.expires
        self.decode: Callable[[bytes], Any] = msgspec.json.Decoder(collection.record).decode

    def unexpired(self, row: Row | None, now: datetime) -> Any:
        """Returns the record of a row, or None when there is no row or it has expired."""
        record = self.decode(row[0]) if row else None
        return None if record and self.expires and record.expires_at <= now else record


T = TypeVar("T", bound=Table)


class Tables(dict[str, T]):
    """The tables that a store was opened with, by name.

    The constructor raises InvalidValue; a look-up of any other name raises Undeclared.
    """

    def __init__(
        self, collections: Sequence[Collection[Any]], factory: Callable[[Collection[Any]], T]
    ) -> None:
        super().__init__()
        for collection in (*collections, META, COUNTERS):
            self[collection.name] = factory(collection)

    def __missing__(self, name: str) -> T:
        raise Undeclared(f"the store was opened without the collection {name!r}")


class _NotOpen(Tables[Any]):
    def __missing__(self, name: str) -> NoReturn:
        raise Unavailable("the store is not open")


NOT_OPEN: Final = _NotOpen((), Table)
NOT_OPEN.clear()


class Transaction(Protocol):
    """The operations of a back end on rows while its transaction is open."""

    @property
    def now(self) -> datetime:
        """The instant that decides which records have expired."""

    def read(self, table: Any, id: str) -> Row | None:
        """Returns the row of this id, also an expired one; None if there is none."""

    def insert(self, table: Any, id: str, document: bytes, marks: bytes) -> None:
        """Adds a row with this record (`document`, as JSON) and its marks. Raises Conflict."""

    def update(self, table: Any, id: str, document: bytes, marks: bytes) -> None:
        """Replaces the record and the marks of an existing row. Raises Conflict."""

    def mark(self, table: Any, id: str, document: bytes, marks: bytes) -> None:
        """Replaces the marks of a row. `document` is the row's record as it is stored already."""

    def delete(self, table: Any, id: str) -> None:
        """Removes the row, if it exists."""


class InsertStep(Struct, frozen=True):
    table: Table
    id: str
    document: bytes

    def run(self, transaction: Transaction, mark: str) -> None:
        existing = transaction.read(self.table, self.id) if self.table.expires else None
        if existing and self.table.unexpired(existing, transaction.now):
            raise Conflict(self.table.name, "id")
        write = transaction.update if existing else transaction.insert
        write(self.table, self.id, self.document, mark.encode())


class UpdateStep(Struct, frozen=True):
    table: Table
    id: str
    set: list[Change]
    increment: list[Change]
    expect: list[Change]

    def run(self, transaction: Transaction, mark: str) -> None:
        (before, marks), document = _read(transaction, self.table, self.id)
        _expect(self.table, self.id, document, self.expect)
        if not self.set and not self.increment:
            transaction.mark(self.table, self.id, before, _marked(marks, mark))
            return
        self._change(document)
        after = msgspec.json.encode(document)
        if len(after) > MAX_RECORD_BYTES:
            raise InvalidValue(f"a record of {len(after)} bytes is over {MAX_RECORD_BYTES}")
        transaction.update(self.table, self.id, after, _marked(marks, mark))

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
            _, document = _read(transaction, self.table, self.id)
            _expect(self.table, self.id, document, self.expect)
        transaction.delete(self.table, self.id)


class CountStep(Struct, frozen=True):
    table: Table
    id: str
    by: int
    window: timedelta

    def run(self, transaction: Transaction, mark: str) -> Counter:
        row = transaction.read(self.table, self.id)
        unexpired = self.table.unexpired(row, transaction.now)
        if unexpired is not None:
            counter = Counter(_sum(unexpired.n, self.by), unexpired.expires_at)
        else:
            counter = Counter(self.by, truncated(transaction.now + self.window))
        members = {"id": self.id, "n": counter.n, "expires_at": instant_text(counter.resets_at)}
        write = transaction.update if row else transaction.insert
        write(self.table, self.id, msgspec.json.encode(members), mark.encode())
        return counter


class MarksStep(Struct, frozen=True):
    """The step that determines whether a unit was applied: whether any of the records `keys`,
    those that the unit wrote, has the unit's id (`mark`) among its marks.

    It runs after everything that was queued before, so a unit that it does not find can't be
    applied later.
    """

    keys: list[tuple[Table, str]]
    mark: str

    def run(self, transaction: Transaction, mark: str) -> bool:
        rows = (transaction.read(table, record_id) for table, record_id in self.keys)
        return any(row and self.mark.encode() in row[1].split() for row in rows)


Step: TypeAlias = InsertStep | UpdateStep | DeleteStep | CountStep | MarksStep


class PreparedUnit(Struct, frozen=True):
    """A unit that was checked and encoded, ready for the writer."""

    unit: Unit
    steps: tuple[Step, ...]

    def run(self, transaction: Transaction) -> Any:
        """Runs the steps in the transaction; returns the result of a single step, or None if there
        are several.
        """
        if len(self.steps) == 1:
            return self.steps[0].run(transaction, self.unit.id)
        for step in self.steps:
            step.run(transaction, self.unit.id)
        return None


def prepare(tables: Tables[Any], unit: Unit) -> PreparedUnit:
    """Returns a unit that is checked and encoded. Raises InvalidValue and Undeclared."""
    check_unit(unit.writes)
    return PreparedUnit(unit, tuple(_step(tables, write) for write in unit.writes))


def prepare_increment(
    tables: Tables[Any], unit_id: str, key: str, by: int, window: timedelta
) -> PreparedUnit:
    """Returns an increment as a unit whose result is a Counter. Raises InvalidValue."""
    check_count(key, by)
    step = CountStep(tables[COUNTERS.name], key, by, window)
    return PreparedUnit(Unit(unit_id, ()), (step,))


def prepare_applied(tables: Tables[Any], unit_id: str, unit: Unit) -> PreparedUnit:
    """Returns a unit, with the id `unit_id`, whose result is whether `unit` was applied."""
    marked_writes = [write for write in unit.writes if not isinstance(write, Delete)]
    keys = [(tables[write.collection.name], write.id) for write in marked_writes]
    return PreparedUnit(Unit(unit_id, ()), (MarksStep(keys, unit.id),))


def _step(tables: Tables[Any], write: Write) -> Step:
    table = tables[write.collection.name]
    if isinstance(write, Insert):
        return InsertStep(table, write.id, encode_json(write.record))
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
        (tuple(path.split(".")), value)
        for path, value in encode_values(values, instant_text).items()
    ]


def _read(transaction: Transaction, table: Table, id: str) -> tuple[Row, dict[str, Any]]:
    row = transaction.read(table, id)
    if row is None:
        raise Stale(table.name, id)
    document = msgspec.json.decode(row[0])
    if table.expires and document["expires_at"] <= instant_text(transaction.now):
        raise Stale(table.name, id)
    return row, document


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


def _marked(marks: bytes, mark: str) -> bytes:
    return b" ".join([*marks.split()[1 - MAX_MARKS :], mark.encode()])
