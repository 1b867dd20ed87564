"""A store over another one, which remains unchanged: a dry run writes into the upper store
only."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, TypeVar

from msgspec import structs

from storage.base import (
    COUNTERS,
    FIRST_SCHEMA,
    MAX_VALUES,
    META,
    Collection,
    Conflict,
    Counter,
    Delete,
    Insert,
    InvalidValue,
    Outcome,
    Reader,
    Record,
    Schema,
    StorageError,
    Store,
    Unavailable,
    Unit,
    Update,
    Value,
    Write,
)
from storage.codec import check_unit, check_values
from storage.layers import SHADOWS, Layers, shadow
from storage.lists import value_at

T = TypeVar("T")
_MAX_UNITS: Final = 200


class Overlay(Layers, Store):
    """A store whose reads return the records of two stores, and whose writes go to the upper one.

    The upper one is a temporary store that the overlay opens and closes. The lower one is already
    open, and neither changed nor closed. To its callers the overlay fulfils the contract, and is
    as durable as the upper store; a record that is copied from the lower store loses fields that
    this program does not know. Concurrent changes of the lower store are visible where the upper
    one does not hide them."""

    def __init__(self, lower: Store, upper: Store) -> None:
        super().__init__(lower, upper, set())
        self._lower: Store = lower
        self._upper: Store = upper
        self._names: frozenset[str] = frozenset()
        self._pending: set[asyncio.Future[Any]] = set()
        self._is_closed = False

    async def open(
        self, collections: Sequence[Collection[Any]], schema: Schema | None = FIRST_SCHEMA
    ) -> None:
        await self._upper.open([*collections, SHADOWS], schema)
        self._names = frozenset(collection.name for collection in (*collections, META, COUNTERS))

    async def close(self) -> None:
        self._is_closed = True
        while self._pending:
            await asyncio.wait(set(self._pending))
        await self._upper.close()

    async def ping(self) -> None:
        await asyncio.gather(self._lower.ping(), self._upper.ping())

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Reader]:
        async with self._lower.snapshot() as lower, self._upper.snapshot() as upper:
            yield Layers(lower, upper, self._shadowed)

    async def commit(self, *writes: Write) -> None:
        # Copies, because the caller may change the records before all of them are written.
        (outcome,) = await self.commit_each([[_copied(write) for write in writes]])
        if outcome is not None:
            raise outcome

    async def commit_each(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        if self._is_closed:
            return [Unavailable("the store is closed") for _ in units]
        return await self._shield(self._write(units))

    async def applied(self, unit: Unit) -> bool | None:
        return await self._upper.applied(unit)

    async def increment(self, key: str, by: int = 1, *, window: timedelta) -> Counter:
        return await self._shield(self._increment(key, by, window))

    async def _increment(self, key: str, by: int, window: timedelta) -> Counter:
        await self._copy_affected([Delete(COUNTERS, key)])
        return await self._upper.increment(key, by, window=window)

    async def _shield(self, work: Coroutine[Any, Any, T]) -> T:
        """Returns the work's result.

        Cancelling the caller does not cancel the work, and `close` awaits it.
        """
        task = asyncio.ensure_future(work)
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)
        return await asyncio.shield(task)

    async def _write(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for start in range(0, len(units), _MAX_UNITS):
            chunk = units[start : start + _MAX_UNITS]
            try:
                outcomes += await self._write_together(chunk)
            except StorageError as error:
                outcomes += [error for _ in chunk]
        return outcomes

    async def _write_together(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        """Applies the units to the upper store, after the records of the lower store that they
        affect have been copied."""
        valid = [unit for unit in units if self._is_valid(unit)]
        await self._copy_affected([write for unit in valid for write in unit])
        return await self._upper.commit_each(units)

    def _is_valid(self, unit: Sequence[Write]) -> bool:
        """Returns whether both stores accept queries for all of the unit."""
        try:
            check_unit(unit)
            for write in unit:
                for field, value in _keys(write):
                    check_values(write.collection, field, (value,))
        except InvalidValue:
            return False
        return all(write.collection.name in self._names for write in unit)

    async def _copy_affected(self, writes: Sequence[Write]) -> None:
        """Copies the records of the lower store that have an id or a unique key of these
        writes."""
        keys = list({(write.collection, write.id): None for write in writes})
        lower_records = zip(keys, await self._lower.get_many(keys), strict=True)
        affected = {key: record for key, record in lower_records if record is not None}
        for (collection, field), values in _unique_keys(writes).items():
            for start in range(0, len(values), MAX_VALUES):
                chunk = values[start : start + MAX_VALUES]
                matches = await self._lower.find_each(collection, field, chunk, 1)
                affected |= {(collection, write.id): write for (write,) in matches.values()}
        by_collection: dict[Collection[Any], list[Record]] = {}
        for (collection, _), record in affected.items():
            by_collection.setdefault(collection, []).append(record)
        for collection, records in by_collection.items():
            await self._copy_and_shadow(collection, records)

    async def _copy_and_shadow(
        self, collection: Collection[Any], records: Sequence[Record]
    ) -> None:
        """Copies records of the lower store and shadows them, unless they are hidden already."""
        visible = await self._visible(collection, records)
        if not visible:
            return
        self._shadowed.add(collection.name)
        units = [
            [Insert(SHADOWS, shadow(collection, record.id)), Insert(collection, record)]
            for record in visible
        ]
        for outcome in await self._upper.commit_each(units):
            # A concurrent call has copied the same record.
            if outcome is not None and not isinstance(outcome, Conflict):
                raise outcome


def _copied(write: Write) -> Write:
    if isinstance(write, Insert):
        return structs.replace(write, record=copy.deepcopy(write.record))
    if isinstance(write, Update):
        return structs.replace(write, set=copy.deepcopy(write.set))
    return write


def _unique_keys(writes: Sequence[Write]) -> dict[tuple[Collection[Any], str], list[Value]]:
    """Returns the unique keys of the writes, by collection and field."""
    unique_keys: dict[tuple[Collection[Any], str], list[Value]] = {}
    for write in writes:
        for field, value in _keys(write):
            unique_keys.setdefault((write.collection, field), []).append(value)
    return unique_keys


def _keys(write: Write) -> Iterator[tuple[str, Any]]:
    """Yields the unique keys that a write gives its record."""
    if isinstance(write, Insert):
        for field in write.collection.unique:
            yield field, value_at(write.record, field)
    elif isinstance(write, Update):
        for path, value in write.set.items():
            for field in write.collection.unique:
                if field == path or field.startswith(f"{path}."):
                    yield (
                        field,
                        value_at(value, field[len(path) + 1 :]) if field != path else value,
                    )
