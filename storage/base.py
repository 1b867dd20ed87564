"""The storage contract: the behaviour and the types that all back ends have in common.

A store holds *records* (typed structs) in *collections*. It finds them by id or by declared lists,
and changes them in *units*: data that states what to write and which conditions must hold, so that
a unit can be retried, batched and logged. This module contains nothing about identity and nothing
about any database.

Errors::

    StorageError
    ├── Conflict      a unique key or an id is taken
    ├── Stale         an expectation does not hold, or the record is absent
    ├── Unavailable   the store can't be reached or is busy; nothing was applied
    ├── Unknown       the answer was lost; see `Store.applied`
    ├── Unsupported   this server can't fulfil the contract; the message says what to change
    ├── TooNew        the store was written by a newer version that this one can't read
    ├── HalfFilled    the store is being filled, or its filling was interrupted
    ├── Undeclared    no declared list answers this query (a mistake in the program)
    └── InvalidValue  a value that no back end may hold (a mistake in the program)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Any, Final, Generic, Self, TypeAlias, TypeVar

from msgspec import Struct

from storage.condition import Condition

UNKNOWN_AFTER_SECONDS: Final = 8.0
MAX_MARKS: Final = 8
MAX_ID_CHARACTERS: Final = 200
MAX_RECORD_BYTES: Final = 4 * 1024 * 1024
COUNT_CAP: Final = 10_000
VALUES_AT_ONCE: Final = 1000

Value: TypeAlias = str | int | bool | datetime | None
Cursor: TypeAlias = tuple[Value, str]


class StorageError(Exception):
    """The base of all errors of a store."""


class Conflict(StorageError):
    """A unique key is taken; nothing has changed. `field` is `id` or the unique field."""

    def __init__(self, collection: str, field: str) -> None:
        super().__init__(f"{collection}.{field} is taken")
        self.collection, self.field = collection, field


class Stale(StorageError):
    """An expectation does not hold, or the record is absent or expired; nothing has changed."""

    def __init__(self, collection: str, id: str) -> None:
        super().__init__(f"{collection} record is not as expected")
        self.collection, self.id = collection, id


class Unavailable(StorageError):
    """The store can't be reached or is busy; nothing was applied, and a retry is allowed."""


class Unknown(StorageError):
    """The answer was lost: the unit may be applied or not (see `Store.applied`)."""

    def __init__(self, unit: Unit) -> None:
        super().__init__(f"the outcome of unit {unit.id} is not known")
        self.unit = unit


class Unsupported(StorageError):
    """The server can't fulfil the contract; the message says what to change."""


class TooNew(StorageError):
    """The store's `oldest_reader` is above the version of the program that opens it."""


class HalfFilled(StorageError):
    """The store is being filled, or its filling was interrupted: it cannot be used yet."""


class Undeclared(StorageError):
    """No declared list answers this query."""


class InvalidValue(StorageError):
    """A value, a path or a type that the contract refuses."""


class Record(Struct, kw_only=True):
    """The base of every stored record. Instants are UTC datetimes in fields ending `_at`."""

    id: str


R = TypeVar("R", bound=Record)


class Collection(Generic[R]):
    """Records of one type, with the keys and lists that every back end maintains.

    `unique` names fields that are always present and already normalized. Each of `lists` is a
    compound index: the fields that a `find` matches by equality, then the field it orders by
    (never null). A list of `narrowed` has no index, costs nothing to write, and is read more
    slowly: the list of its fields but the first is narrowed to one value of that one, with which
    another list has to begin. In an expiring collection every record has `expires_at`, compared
    with the injected clock, and is removed `retention` after that; only its id is unique.
    """

    def __init__(
        self,
        name: str,
        record: type[R],
        *,
        unique: Sequence[str] = (),
        lists: Sequence[tuple[str, ...]] = (),
        narrowed: Sequence[tuple[str, ...]] = (),
        expires: bool = False,
        retention: timedelta = timedelta(days=1),
    ) -> None:
        if expires and unique:
            raise InvalidValue(f"{name}: an expiring collection can't have unique keys")
        self.name: Final = name
        self.record: Final = record
        self.unique: Final = tuple(unique)
        self.lists: Final = tuple(lists)
        self.narrowed: Final = tuple(narrowed)
        self.expires: Final = expires
        self.retention: Final = retention
        self.is_swept_soon: Final = expires and retention < timedelta(days=1)

    def __repr__(self) -> str:
        return f"Collection({self.name!r})"


class Insert(Struct, frozen=True):
    """Adds a record. An expired record of the same id is replaced."""

    collection: Collection[Any]
    record: Record

    @property
    def id(self) -> str:
        return self.record.id


class Update(Struct, frozen=True):
    """Changes named fields (dotted paths) of one record, when `expect` holds.

    `expect` maps paths to a str, int, bool, instant or None of the field's own type; None, absent
    and null are equal. The parent of a dotted path must be a stored object, else the unit is
    Stale. With `expect` alone it is a guard: it changes nothing, and of concurrent units that
    falsify it exactly one succeeds.
    """

    collection: Collection[Any]
    id: str
    set: Mapping[str, object] = {}
    increment: Mapping[str, int] = {}
    expect: Mapping[str, Value] = {}


class Delete(Struct, frozen=True):
    """Removes a record. Without `expect`, an absent record is no error."""

    collection: Collection[Any]
    id: str
    expect: Mapping[str, Value] = {}


Write: TypeAlias = Insert | Update | Delete


class Unit(Struct, frozen=True):
    """Writes that are applied together or not at all. `id` is stored on each record as a mark."""

    id: str
    writes: tuple[Write, ...]


class Ready(tuple[Write, ...]):
    """A unit's writes with the prepared form of the unit (`Store.ready`)."""

    prepared: Any

    @classmethod
    def of(cls, writes: Sequence[Write], prepared: object) -> Self:
        """Returns the writes with their prepared form."""
        ready = cls(writes)
        ready.prepared = prepared
        return ready


class StartsWith(Struct, frozen=True):
    """In `where`: the field begins with `prefix`. The page is ordered by that field."""

    prefix: str


Where: TypeAlias = Mapping[str, Value | StartsWith]


class Page(Struct, Generic[R]):
    """Records in order, and the cursor of the next page (None: there is none)."""

    records: list[R]
    after: Cursor | None = None


class Counter(Struct, frozen=True):
    """A count within the current window, and the window's end."""

    n: int
    resets_at: datetime


class UpgradeStep(Struct, frozen=True):
    """A change of stored records. `run` may be interrupted anywhere and repeated, and programs
    of the version before may read what its first half wrote."""

    name: str
    run: Callable[[Store], Awaitable[None]]


class Schema(Struct, frozen=True):
    """The version this program writes, the oldest program version that may read it, and all
    upgrade steps of all versions."""

    version: int = 1
    oldest_reader: int = 1
    steps: tuple[UpgradeStep, ...] = ()


FIRST_SCHEMA: Final = Schema()
Outcome: TypeAlias = StorageError | None
Key: TypeAlias = tuple[Collection[Any], str]


class View(ABC):
    """The reading half of the contract. An expired record does not exist."""

    async def get(self, collection: Collection[R], id: str) -> R | None:
        """Returns the record, or None."""
        found: list[R | None] = await self.get_many([(collection, id)])
        return found[0]

    @abstractmethod
    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        """Returns the records in the order of `keys`, None for each absent one.

        One round trip, however many keys. Not a snapshot.
        """

    @abstractmethod
    async def find(
        self,
        collection: Collection[R],
        where: Where | None = None,
        *,
        order: str | None = None,
        descending: bool = False,
        limit: int = 100,
        after: Cursor | None = None,
    ) -> Page[R]:
        """Returns a page of a declared list: records that match `where`, by `order`, then by id.

        Stable under inserts and deletes: no lasting record is missed or repeated. Without `order`,
        `where` must name every field of a declared list or a unique key. Raises Undeclared.
        """

    @abstractmethod
    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], most: int = 2
    ) -> dict[Value, list[R]]:
        """Returns the records that have each of `values`, at most `most` for each of them.

        `field` is the id, a unique key or the first field of a declared list: then the records of
        a value are in the order of that list, else of ids. For up to 1,000 values, in one round
        trip unless some value has very many records. Raises Undeclared, InvalidValue.
        """

    @abstractmethod
    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        """Returns the number of matching records, at most `up_to`. `where` is as in `find`
        without `order`, or a prefix of a declared list."""

    @abstractmethod
    def scan(
        self, collection: Collection[R], where: Mapping[str, Value] | None = None
    ) -> AsyncIterator[R]:
        """Yields every matching record, in the order of ids, in constant memory.

        Each record that remains is returned once. `where` may name any top-level field.
        """


class Store(View, Condition):
    """A back end. It is opened inside the event loop that uses it, after any fork.

    `is_read_only`: the last write of this process ended as Unavailable or Unknown, and none has
    succeeded since.
    """

    is_read_only: bool = False

    @abstractmethod
    async def open(
        self, collections: Sequence[Collection[Any]], schema: Schema | None = FIRST_SCHEMA
    ) -> None:
        """Connects, creates the missing tables and indexes, and upgrades the stored records.

        Returns when every step of the schema is done, by this process or another. Without a
        schema, nothing is checked or upgraded, for a caller that only inspects the store. Raises
        Unsupported, TooNew, Unavailable, and StorageError when a step fails.
        """

    @abstractmethod
    async def close(self) -> None:
        """Refuses new units (Unavailable), completes the queued ones, then closes. Idempotent."""

    @abstractmethod
    def snapshot(self) -> AbstractAsyncContextManager[View]:
        """Provides one consistent state, for an export."""

    @abstractmethod
    async def commit(self, *writes: Write) -> None:
        """Applies all of `writes`, or none.

        Raises Conflict when a unique key or an id is taken, Stale when an `expect` does not hold
        or a record is absent: then nothing has changed. Of concurrent callers whose writes falsify
        each other's `expect`, exactly one succeeds. Raises Unavailable when nothing was applied
        and the unit may be repeated, and Unknown when the answer was lost for longer than 8 s.
        Durable when it returns. Cancelling the caller withdraws nothing. A unit has at most one
        write for one record; InvalidValue is raised before anything is queued.
        """

    def ready(self, writes: Sequence[Write]) -> Sequence[Write]:
        """Returns the same unit, checked and encoded if possible, for one call of
        `commit_each`."""
        return writes

    @abstractmethod
    async def commit_each(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        """Applies many units, each atomic; returns None for each applied one, else its error."""

    @abstractmethod
    async def applied(self, unit: Unit) -> bool | None:
        """Returns whether the unit was applied; None when it only deletes and so leaves no mark.

        False is final where the unit has an update: it can't be applied any more. (An insert that
        a server still holds could: repeat it with the same id, or with a unique key.)
        """

    @abstractmethod
    async def increment(self, key: str, by: int = 1, *, window: timedelta) -> Counter:
        """Adds to a counter. Its window starts at the first increment and is not prolonged."""

    async def reset(self, key: str) -> None:
        """Removes a counter."""
        await self.commit(Delete(COUNTERS, key))

    async def ping(self) -> None:
        """Returns when the store answers; raises Unavailable."""
        await self.get(META, SCHEMA_ID)


class CounterRecord(Record):
    """A stored counter. Expired ones are ignored and removed later."""

    n: int
    expires_at: datetime


class MetaRecord(Record):
    """The store's record about itself; the only one has the id `schema`.

    `done` are the names of the completed upgrade steps; `holder` runs some at this moment.
    `filled_since` is set while `holder` fills the store from a backup or another store.
    """

    version: int
    oldest_reader: int
    done: list[str] = []
    holder: str | None = None
    held_until: datetime | None = None
    filled_since: datetime | None = None


COUNTERS: Final = Collection("counters", CounterRecord, expires=True)
META: Final = Collection("meta", MetaRecord)
SCHEMA_ID: Final = "schema"
