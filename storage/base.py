"""The storage contract: what every back end promises, and the words it is said in.

A store keeps *records* (typed structs) in *collections*. It looks them up by id or by declared
lists, and changes them in *units*: data that says what to write and what must still be true, so
that a unit can be retried, batched and logged. This module knows nothing about identity and
nothing about any database.

Errors::

    StorageError
    ├── Conflict      a unique key or an id is taken
    ├── Stale         an expectation does not hold, or the record is gone
    ├── Unavailable   the store can't be reached or is busy; nothing was applied
    ├── Unknown       the answer was lost; `Store.applied` tells later
    ├── Unsupported   this server can't keep the promises; the message names the cure
    ├── TooNew        the store was written by a newer version that this one can't read
    ├── HalfFilled    the store is being filled from elsewhere, or that was cut off
    ├── Undeclared    no declared list answers this question (a mistake in the program)
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
MARKS_KEPT: Final = 8
MAX_ID_CHARACTERS: Final = 200
MAX_RECORD_BYTES: Final = 4 * 1024 * 1024
COUNT_CAP: Final = 10_000
VALUES_AT_ONCE: Final = 1000

Value: TypeAlias = str | int | bool | datetime | None
Cursor: TypeAlias = tuple[Value, str]


class StorageError(Exception):
    """Anything that the store itself has to say."""


class Conflict(StorageError):
    """A unique key is taken; nothing has changed. `field` is `id` or the unique field."""

    def __init__(self, collection: str, field: str) -> None:
        super().__init__(f"{collection}.{field} is taken")
        self.collection, self.field = collection, field


class Stale(StorageError):
    """An expectation does not hold, or the record is gone or expired; nothing has changed."""

    def __init__(self, collection: str, id: str) -> None:
        super().__init__(f"{collection} record is not as expected")
        self.collection, self.id = collection, id


class Unavailable(StorageError):
    """The store can't be reached or is busy; nothing was applied, and it may be tried again."""


class Unknown(StorageError):
    """The answer was lost: the unit may or may not be applied. `Store.applied(unit)` tells."""

    def __init__(self, unit: Unit) -> None:
        super().__init__(f"the outcome of unit {unit.id} is not known")
        self.unit = unit


class Unsupported(StorageError):
    """The server can't keep the contract's promises; the message names the cure."""


class TooNew(StorageError):
    """The store's `oldest_reader` is above the version that was asked to open it."""


class HalfFilled(StorageError):
    """The store is being filled from elsewhere, or that was cut off: nobody may use it yet."""


class Undeclared(StorageError):
    """No declared list answers this question."""


class InvalidValue(StorageError):
    """A value, a path or a type that the contract refuses."""


class Record(Struct, kw_only=True):
    """What every stored record has. Instants are UTC datetimes in fields ending `_at`."""

    id: str


R = TypeVar("R", bound=Record)


class Collection(Generic[R]):
    """Records of one type, with the keys and lists that every back end must keep.

    `unique` names fields that are always present and already normalised. Each of `lists` is a
    compound index: the fields that a `find` matches by equality, then the field it orders by
    (never null). A list of `narrowed` has no index of its own, costs nothing to write, and is read
    slower: the list of its fields but the first is narrowed to one value of that one, by which
    another list has to begin. In an expiring collection every record has `expires_at`, judged by
    the injected clock, and is removed `kept` after that; there are no unique keys beside the id.
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
        kept: timedelta = timedelta(days=1),
    ) -> None:
        if expires and unique:
            raise InvalidValue(f"{name}: an expiring collection can't have unique keys")
        self.name: Final = name
        self.record: Final = record
        self.unique: Final = tuple(unique)
        self.lists: Final = tuple(lists)
        self.narrowed: Final = tuple(narrowed)
        self.expires: Final = expires
        self.kept: Final = kept
        self.is_swept_soon: Final = expires and kept < timedelta(days=1)

    def __repr__(self) -> str:
        return f"Collection({self.name!r})"


class Insert(Struct, frozen=True):
    """Add a record. An expired record of the same id is replaced."""

    collection: Collection[Any]
    record: Record

    @property
    def id(self) -> str:
        return self.record.id


class Update(Struct, frozen=True):
    """Change named fields (dotted paths) of one record, when `expect` holds.

    `expect` maps paths to a str, int, bool, instant or None of the field's own type; None,
    absent and null are the same. The parent of a dotted path must be a stored object, else the
    unit is Stale. With `expect` alone it is a guard: it changes nothing, and of concurrent
    units that falsify it exactly one succeeds.
    """

    collection: Collection[Any]
    id: str
    set: Mapping[str, object] = {}
    increment: Mapping[str, int] = {}
    expect: Mapping[str, Value] = {}


class Delete(Struct, frozen=True):
    """Remove a record. Without `expect`, a record that is gone already is no error."""

    collection: Collection[Any]
    id: str
    expect: Mapping[str, Value] = {}


Write: TypeAlias = Insert | Update | Delete


class Unit(Struct, frozen=True):
    """Writes that are applied together or not at all. `id` is left on each record as a mark."""

    id: str
    writes: tuple[Write, ...]


class Ready(tuple[Write, ...]):
    """A unit's writes, and with them what a store has made of the unit (`Store.ready`)."""

    prepared: Any

    @classmethod
    def of(cls, writes: Sequence[Write], prepared: object) -> Self:
        """The writes with what a store made of them."""
        ready = cls(writes)
        ready.prepared = prepared
        return ready


class StartsWith(Struct, frozen=True):
    """In `where`: the field begins with `prefix`. The page is ordered by that field."""

    prefix: str


Where: TypeAlias = Mapping[str, Value | StartsWith]


class Page(Struct, Generic[R]):
    """Records in order, and the cursor for the next page (None: there is none)."""

    records: list[R]
    after: Cursor | None = None


class Counter(Struct, frozen=True):
    """A count within the running window, and the window's end."""

    n: int
    resets_at: datetime


class UpgradeStep(Struct, frozen=True):
    """A change of what older programs have stored. `run` may be cut off anywhere and begun again,
    and its first half may be met by a program of the version before."""

    name: str
    run: Callable[[Store], Awaitable[None]]


class Schema(Struct, frozen=True):
    """The version this program writes, the oldest program version that may read it, and all
    steps that ever led there, in their order."""

    version: int = 1
    oldest_reader: int = 1
    steps: tuple[UpgradeStep, ...] = ()


FIRST_SCHEMA: Final = Schema()
Outcome: TypeAlias = StorageError | None
Key: TypeAlias = tuple[Collection[Any], str]


class View(ABC):
    """Reading. An expired record does not exist."""

    async def get(self, collection: Collection[R], id: str) -> R | None:
        """The record, or None."""
        found: list[R | None] = await self.get_many([(collection, id)])
        return found[0]

    @abstractmethod
    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        """The records of several collections in the order of `keys`, None where there is none.

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
        """A page of a declared list: records that match `where`, by `order`, then by id.

        Stable under inserts and deletes: each record that lasts is met once. Without `order`,
        `where` must name every field of a declared list or a unique key. Raises Undeclared.
        """

    @abstractmethod
    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], most: int = 2
    ) -> dict[Value, list[R]]:
        """The records that have each of `values`, at most `most` of them; nobody's is left out.

        `field` is the id, a unique key or the first field of a declared list: then the records of
        a value are in the order of that list, else of ids. For up to 1,000 values, in one round
        trip unless some value has very many records. Raises Undeclared, InvalidValue.
        """

    @abstractmethod
    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        """How many records match, at most `up_to`. `where` as in `find` without `order`,
        or a prefix of a declared list."""

    @abstractmethod
    def scan(
        self, collection: Collection[R], where: Mapping[str, Value] | None = None
    ) -> AsyncIterator[R]:
        """Every record that matches, in the order of ids, in constant memory.

        Each record that lasts is met once. `where` may name any top-level field.
        """


class Store(View, Condition):
    """A back end. `open` it inside the event loop that uses it, after any fork.

    `is_read_only`: the last write of this process ended as Unavailable or Unknown, and none has
    succeeded since.
    """

    is_read_only: bool = False

    @abstractmethod
    async def open(
        self, collections: Sequence[Collection[Any]], schema: Schema | None = FIRST_SCHEMA
    ) -> None:
        """Connect, create the tables and indexes that are missing, and upgrade what is stored.

        Returns when every step of the schema is done, here or elsewhere. Without a schema the
        store is neither judged nor upgraded, for whoever only looks at it. Raises Unsupported,
        TooNew, Unavailable, and StorageError when a step fails.
        """

    @abstractmethod
    async def close(self) -> None:
        """Refuse new units (Unavailable), answer the queued ones, then let go. Idempotent."""

    @abstractmethod
    def snapshot(self) -> AbstractAsyncContextManager[View]:
        """One consistent state, for an export."""

    @abstractmethod
    async def commit(self, *writes: Write) -> None:
        """Apply all of `writes`, or none.

        Raises Conflict when a unique key or an id is taken, Stale when an `expect` does not
        hold or a record is gone: then nothing has changed. Of concurrent callers whose writes
        falsify each other's `expect`, exactly one succeeds. Raises Unavailable when nothing was
        applied and the unit may be repeated, and Unknown when the answer was lost for longer
        than 8 s. Durable when it returns. Cancelling the caller withdraws nothing. A unit has
        at most one write for one record; InvalidValue is raised before anything is queued.
        """

    def ready(self, writes: Sequence[Write]) -> Sequence[Write]:
        """The same unit, which `commit_each` of this store takes sooner, and once: checked and
        encoded already, if it can be."""
        return writes

    @abstractmethod
    async def commit_each(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        """Apply many small units, each atomic; None for each that was applied, else its error."""

    @abstractmethod
    async def applied(self, unit: Unit) -> bool | None:
        """Whether the unit was applied; None when only deletes are left to ask.

        False is for good where the unit has an update: it can't be applied any more. (An insert
        that a server still holds could: repeat it under the same id, or with a unique key.)
        """

    @abstractmethod
    async def increment(self, key: str, by: int = 1, *, window: timedelta) -> Counter:
        """Add to a counter. Its window starts at the first increment and is not prolonged."""

    async def reset(self, key: str) -> None:
        """Forget a counter."""
        await self.commit(Delete(COUNTERS, key))

    async def ping(self) -> None:
        """Return when the store answers; raises Unavailable."""
        await self.get(META, SCHEMA_ID)


class CounterRecord(Record):
    """A counter as it is kept. Expired ones are judged by the clock and swept."""

    n: int
    expires_at: datetime


class MetaRecord(Record):
    """What the store says about itself; the one record has the id `schema`.

    `done` are the names of the upgrade steps it went through; `holder` runs some at this moment.
    While it is filled from elsewhere, by `holder`, `filled_since` tells since when.
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
