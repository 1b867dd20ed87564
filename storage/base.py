"""The storage contract: the behaviour and the types that all back ends have in common.

A store holds *records* (typed structs) in *collections*. It finds them by id or by declared lists,
and changes them in *units*: data that states what to write and which conditions must hold, so that
a unit can be retried, batched and logged. This module contains nothing about identity and nothing
about any database.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Any, Final, Generic, Self, TypeAlias, TypeVar

from msgspec import Struct

from storage.condition import Condition
from storage.confirming import Confirming
from storage.following import Following
from storage.loader import Loader
from storage.observer import Observer

UNKNOWN_AFTER_SECONDS: Final = 8.0
MAX_MARKS: Final = 8
MAX_ID_CHARACTERS: Final = 200
MAX_RECORD_BYTES: Final = 4 * 1024 * 1024
COUNT_CAP: Final = 10_000
MAX_VALUES: Final = 1000

Value: TypeAlias = str | int | bool | datetime | None
Cursor: TypeAlias = tuple[Value, str]


class StorageError(Exception):
    """The base of all errors of a store."""


class Conflict(StorageError):
    """A value of `field`, a unique field or the id, is taken by another record; nothing has
    changed."""

    def __init__(self, collection: str, field: str) -> None:
        super().__init__(f"{collection}.{field} is taken")
        self.collection, self.field = collection, field


class Stale(StorageError):
    """An `expect` does not hold, or the record is absent or expired; nothing has changed."""

    def __init__(self, collection: str, id: str) -> None:
        super().__init__(f"{collection} record is not as expected")
        self.collection, self.id = collection, id


class Unavailable(StorageError):
    """The store can't be reached or is busy; nothing was applied, and a retry is allowed."""


class Unknown(StorageError):
    """The answer of the database was lost; `Store.applied` finds out whether the unit was
    applied."""

    def __init__(self, unit: Unit) -> None:
        super().__init__(f"the outcome of unit {unit.id} is not known")
        self.unit = unit


class Unsupported(StorageError):
    """The database server can't fulfil the storage contract; the message says what to change."""


class TooNew(StorageError):
    """The store's `oldest_reader` is above the version of the program that opens it."""


class HalfFilled(StorageError):
    """The store is being filled from a backup or another store, or its filling was interrupted."""


class Undeclared(StorageError):
    """No list that the collection declares (`Collection.lists`) can answer the query."""


class InvalidValue(StorageError):
    """A value, a dotted path or a type that the storage contract does not allow."""


class Record(Struct, kw_only=True):
    """The base of every stored record. Instants are UTC datetimes in fields ending `_at`."""

    id: str


R = TypeVar("R", bound=Record)


class Collection(Generic[R]):
    """Records of one type, with the keys and lists that every back end maintains.

    `unique` names fields of which each value belongs to one record only; they are always present
    and already normalized. Each of `lists` is a compound index: the fields that a `find` matches
    by equality, then the field that orders the result (never null). Each of `narrowed` is a list
    that has no index of its own: without its first field it is one of `lists`, and the records
    found there are filtered by that field. It costs nothing to write and is slower to read; one of
    `lists` has to begin with the first field. In an expiring collection every record has
    `expires_at`, compared with the injected clock, and is removed `retention` after that; only its
    id is unique.
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
    Stale. With `expect` alone it is a guard, which makes the unit depend on a record without
    changing it. Of concurrent units whose writes make each other's guards false, exactly one
    succeeds.
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
    """Writes that are applied together or not at all. `id` is stored on each record that is
    written: the mark by which `Store.applied` recognises the unit."""

    id: str
    writes: tuple[Write, ...]


class PreparedWrites(tuple[Write, ...]):
    """A unit's writes, which `Store.prepare` has encoded in advance, for `Store.commit_each`."""

    prepared: Any

    @classmethod
    def of(cls, writes: Sequence[Write], prepared: object) -> Self:
        """Returns a unit's writes with `prepared`, into which the back end has encoded them."""
        prepared_writes = cls(writes)
        prepared_writes.prepared = prepared
        return prepared_writes


class StartsWith(Struct, frozen=True):
    """A condition in `where`: the field begins with `prefix`; the page is ordered by it."""

    prefix: str


Where: TypeAlias = Mapping[str, Value | StartsWith]


class Page(Struct, Generic[R]):
    """Records in order, and the cursor `after` for the next page (None if there is none)."""

    records: list[R]
    after: Cursor | None = None


class Counter(Struct, frozen=True):
    """A count within the current window, and the window's end."""

    n: int
    resets_at: datetime


class UpgradeStep(Struct, frozen=True):
    """A change of stored records. `run` may be interrupted anywhere and is then run again;
    programs of the version before may read what it has written until then. If it `is_late`, it
    corrects what these have written, and `upgrades.upgrade_late` runs it in an open store."""

    name: str
    run: Callable[[Store], Awaitable[None]]
    is_late: bool = False


class Schema(Struct, frozen=True):
    """The version this program writes, the oldest version whose programs may read what it writes,
    and all upgrade steps of all versions."""

    version: int = 1
    oldest_reader: int = 1
    steps: tuple[UpgradeStep, ...] = ()


FIRST_SCHEMA: Final = Schema()
Outcome: TypeAlias = StorageError | None
Key: TypeAlias = tuple[Collection[Any], str]


class Reader(Following, ABC):
    """The methods of a store that read. A record that has expired is treated as absent."""

    async def get(self, collection: Collection[R], id: str) -> R | None:
        """Returns the record with this id, or None."""
        records: list[R | None] = await self.get_many([(collection, id)])
        return records[0]

    @abstractmethod
    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        """Returns the records in the order of `keys`, None for each absent one, in one round trip;
        not necessarily from the same moment."""

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
        """Returns a page of the records that match `where`, ordered by `order`, then by id.

        One of the collection's lists has to answer the query, else it raises Undeclared. Without
        `order`, `where` must name every field of a list or a unique key. `after` is the cursor of
        the page before. No record that exists throughout is missed or repeated."""

    @abstractmethod
    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], limit: int = 2
    ) -> dict[Value, list[R]]:
        """Returns for each of `values` the records that have it in `field`, at most `limit`.

        `field` is the id, a unique key or the first field of a declared list: then the records of
        a value are in the order of that list, else of ids. For up to 1,000 values, in one round
        trip unless some value has very many records. Raises Undeclared, InvalidValue."""

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

        Each record that remains is returned once. `where` may name any top-level field."""


class Store(Reader, Confirming, Condition, Loader):
    """A back end. It is opened inside the event loop that uses it, after any fork.

    `failed_at` is when a write of this process last ended as Unavailable or Unknown, on the clock
    of `time.monotonic`; `is_read_only` is true if that was its last write.
    `observer`, set before opening, is notified of each command that calls of the store share.
    """

    is_read_only: bool = False
    failed_at: float = -math.inf
    observer: Observer | None = None

    @abstractmethod
    async def open(
        self, collections: Sequence[Collection[Any]], schema: Schema | None = FIRST_SCHEMA
    ) -> None:
        """Connects, creates the missing tables and indexes, and upgrades the stored records.

        Returns when every step of the schema is done, by this process or another. Without a schema
        nothing is checked or upgraded: for a caller that only inspects the store. Raises
        Unsupported, TooNew, Unavailable, and StorageError when a step fails."""

    @abstractmethod
    async def close(self) -> None:
        """Refuses new units (Unavailable), completes the queued ones, then closes. Idempotent."""

    @abstractmethod
    def snapshot(self) -> AbstractAsyncContextManager[Reader]:
        """Returns a context whose value reads the store in its state at one moment, for an
        export."""

    @abstractmethod
    async def commit(self, *writes: Write) -> None:
        """Applies all of `writes`, or none.

        Raises Conflict when a unique key or an id is taken, Stale when an `expect` does not hold
        or a record is absent: then nothing has changed. Raises Unavailable when nothing was
        applied and the unit may be repeated, and Unknown when the answer was lost for longer than
        8 s. Durable when it returns. Cancelling the caller does not cancel the unit. A unit has at
        most one write for one record; InvalidValue is raised before anything is queued."""

    def prepare(self, writes: Sequence[Write]) -> Sequence[Write]:
        """Returns the writes of a unit for one call of `commit_each`: encoded already if the back
        end can do that in advance, else unchanged. `commit_each` refuses writes that are not
        allowed."""
        return writes

    @abstractmethod
    async def commit_each(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        """Applies many units, each atomic; returns for each, in order, None or its error."""

    @abstractmethod
    async def applied(self, unit: Unit) -> bool | None:
        """Returns whether the unit was applied; None when it only deletes and so leaves no mark.

        False is final where the unit has an update: it can't be applied any more. (An insert that
        a server still holds could: repeat it with the same id, or a unique key.)"""

    @abstractmethod
    async def increment(self, key: str, by: int = 1, *, window: timedelta) -> Counter:
        """Adds `by` to the counter `key` and returns it. Its window begins at the first increment
        and is not prolonged; afterwards the counter begins at zero again."""

    async def reset(self, key: str) -> None:
        """Removes the counter `key`: the next increment begins at zero."""
        await self.commit(Delete(COUNTERS, key))

    async def ping(self) -> None:
        """Returns when the store has answered. Raises Unavailable."""
        await self.get(META, SCHEMA_ID)


class CounterRecord(Record):
    """A stored counter. Expired ones are ignored and removed later."""

    n: int
    expires_at: datetime


class MetaRecord(Record):
    """The store's record about itself; the only one has the id `schema`.

    `done` are the names of the completed upgrade steps; `holder` is the process that runs the
    others, until `held_until`. `filled_since` is set while `holder` fills the store from a backup
    or another store. `upgraded_at` is when the last step that delays an opening was done.
    """

    version: int
    oldest_reader: int
    done: list[str] = []
    holder: str | None = None
    held_until: datetime | None = None
    filled_since: datetime | None = None
    upgraded_at: datetime | None = None


COUNTERS: Final = Collection("counters", CounterRecord, expires=True, retention=timedelta(hours=1))
META: Final = Collection("meta", MetaRecord)
SCHEMA_ID: Final = "schema"
