"""Filling of an empty store from a backup, or from another store.

The store's own record names the process that fills it, until all records have been written, read
back and compared. No other process opens the store before that (`HalfFilled`). After an
interruption, the next attempt empties the store and begins again.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct

from storage.base import (
    META,
    SCHEMA_ID,
    Collection,
    Conflict,
    Delete,
    HalfFilled,
    Insert,
    MetaRecord,
    Reader,
    Record,
    Stale,
    StorageError,
    Store,
    Update,
    Write,
)
from storage.upgrades import FREE, LEASE, Now, while_held, write_if_held

MAX_UNITS: Final = 5_000
MAX_BYTES: Final = 4 * 1024 * 1024

_NOT_EMPTY: Final = "the store is not empty: {}. Name another one, or move this one away"

CollectionRecord = tuple[Collection[Any], Record]
OnProgress = Callable[[int], object]


class StoreNotEmpty(StorageError):
    """The store holds records, or was opened by a service."""


class CollectionDigest(Struct):
    """The number of records of a collection, and the SHA-256 of all of them in the order of their
    ids.
    """

    count: int
    sha256: str


class CollectionDigests:
    """Counts and digests of records by collection, computed from one record at a time. The records
    themselves are not held in memory."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._digests: dict[str, Any] = {}

    def add(self, collection: Collection[Any], encoded: bytes) -> None:
        """Adds one record to the digest of its collection; `encoded` is the record as `encode`
        returns it."""
        name = collection.name
        if name not in self._counts:
            self._counts[name], self._digests[name] = 0, hashlib.sha256()
        self._counts[name] += 1
        self._digests[name].update(encoded + b"\n")

    def by_collection(self) -> dict[str, CollectionDigest]:
        """Returns the digests of all collections that are not empty."""
        return {
            name: CollectionDigest(count, self._digests[name].hexdigest())
            for name, count in self._counts.items()
        }


class StoreContent(Struct, frozen=True):
    """The content of a store that is to be filled: `records` are in the order of `collections`,
    then of ids.

    Records that have expired by `moment` are left out. The store's clock must not advance, or
    records would expire before they are read back. `now` is the clock and `holder` the name of
    this process for the lease, by which one process at a time fills the store.
    """

    collections: Sequence[Collection[Any]]
    schema: MetaRecord
    records: AsyncIterator[CollectionRecord]
    moment: datetime
    now: Now
    holder: str
    on_progress: OnProgress = lambda n: None


def encode(record: Record) -> bytes:
    """Returns the record as one line of JSON, which is the same for every back end."""
    return msgspec.json.encode(record)


async def all_records(
    view: Reader, collections: Sequence[Collection[Any]]
) -> AsyncIterator[CollectionRecord]:
    """Yields all records of these collections, each collection in the order of ids."""
    for collection in collections:
        async for record in view.scan(collection):
            yield collection, record


async def fill(store: Store, content: StoreContent, finish: Callable[[], Awaitable[None]]) -> None:
    """Fills a store that was opened without a schema, and checks what it has written. `finish`
    runs last, before other processes may open the store.

    Raises StoreNotEmpty before anything is written; HalfFilled when another process fills it; and
    the errors of `records` and `finish`: then no service can open the store, until another call
    fills it from the beginning.
    """
    await _claim(store, content)
    try:
        is_held = await while_held(
            store, content.now, content.holder, _fill(store, content, finish)
        )
    except BaseException:
        with suppress(StorageError):
            await write_if_held(store, content.holder, FREE)
        raise
    if not is_held:
        raise HalfFilled("another process fills this store by now")


async def _claim(store: Store, content: StoreContent) -> None:
    stored = await store.get(META, SCHEMA_ID)
    now = content.now()
    claim = {"filled_since": now, "holder": content.holder, "held_until": now + LEASE}
    write: Write
    if stored is None:
        await _check_empty(store, content.collections)
        write = Insert(META, msgspec.structs.replace(content.schema, **claim))
    elif stored.filled_since is None:
        raise StoreNotEmpty(_NOT_EMPTY.format("a service has opened it"))
    elif stored.held_until is not None and stored.held_until > now:
        raise HalfFilled(f"the store is being filled at this moment, until {stored.held_until}")
    else:
        expect = {"holder": stored.holder, "held_until": stored.held_until}
        write = Update(META, SCHEMA_ID, set=claim, expect=expect)
    try:
        await store.commit(write)
    except (Conflict, Stale):
        raise HalfFilled("another process has just begun with this store") from None


async def _check_empty(store: Store, collections: Sequence[Collection[Any]]) -> None:
    for collection in collections:
        if (await store.find(collection, limit=1)).records:
            raise StoreNotEmpty(_NOT_EMPTY.format(f"it has {collection.name}"))


async def _fill(
    store: Store, content: StoreContent, finish: Callable[[], Awaitable[None]]
) -> None:
    await clear(store, content.collections)
    async with store.loading():
        written = await _insert(store, content)
    # Read back: a back end that changed a value would otherwise be noticed too late.
    read_back = CollectionDigests()
    async for collection, record in all_records(store, content.collections):
        read_back.add(collection, encode(record))
    if read_back.by_collection() != written.by_collection():
        raise StorageError("the store does not give back what was written into it")
    await finish()
    if not await write_if_held(store, content.holder, _released(content.schema)):
        raise HalfFilled("another process fills this store by now")


def _released(schema: MetaRecord) -> dict[str, object]:
    values = {
        "version": schema.version,
        "oldest_reader": schema.oldest_reader,
        "done": schema.done,
    }
    return {**values, **FREE, "filled_since": None}


async def clear(store: Store, collections: Sequence[Collection[Any]]) -> None:
    """Removes every record of these collections. Raises StorageError."""
    await remove(store, all_records(store, collections))


async def remove(store: Store, records: AsyncIterator[CollectionRecord]) -> None:
    """Deletes from the store the records that have the collections and ids of `records`, many in
    each call of the store. Raises StorageError."""
    units: list[list[Write]] = []
    async for collection, record in records:
        units.append([Delete(collection, record.id)])
        if len(units) == MAX_UNITS:
            await _commit(store, units)
            units = []
    await _commit(store, units)


async def _insert(store: Store, content: StoreContent) -> CollectionDigests:
    digests, units, size = CollectionDigests(), list[list[Write]](), 0
    async for collection, record in content.records:
        if collection.expires and record.expires_at <= content.moment:  # type: ignore[attr-defined]
            continue
        encoded = encode(record)
        digests.add(collection, encoded)
        units.append([Insert(collection, record)])
        size += len(encoded)
        if len(units) == MAX_UNITS or size > MAX_BYTES:
            await _commit(store, units)
            content.on_progress(len(units))
            units, size = [], 0
    await _commit(store, units)
    content.on_progress(len(units))
    return digests


async def _commit(store: Store, units: list[list[Write]]) -> None:
    for outcome in await store.commit_each(units) if units else ():
        if outcome is not None:
            raise outcome
