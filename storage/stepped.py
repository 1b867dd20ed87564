"""The part that is common to stores which apply units by steps (`storage/steps.py`): all of
writing but the transaction.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, cast

from storage import steps
from storage.base import (
    Counter,
    Outcome,
    Ready,
    StorageError,
    Store,
    Unavailable,
    Unit,
    Unknown,
    Write,
)
from storage.codec import deleted_only
from storage.steps import NOT_OPEN, PreparedUnit, Tables
from storage.writability import record_outcome

_CHUNK_UNITS: Final = 500


class SteppedStore(Store):
    """A store that checks and encodes units, and leaves to its subclass how they are written.

    `_tables` are the tables that it was opened with.
    """

    _tables: Tables[Any] = NOT_OPEN
    _chunk_units = _CHUNK_UNITS

    def __init__(self, *, now: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        self._now = now
        self._new_id = new_id
        self._encoding = asyncio.Lock()
        self._queueing = asyncio.Lock()

    async def close(self) -> None:
        self._tables = NOT_OPEN

    @abstractmethod
    async def _written(self, units: list[PreparedUnit]) -> list[Any]:
        """Runs each unit's steps in the order of the list; returns each one's result, or its
        error.

        Cancelling the caller withdraws nothing.
        """

    async def commit(self, *writes: Write) -> None:
        await self._one_noted(self._prepared(writes))

    def ready(self, writes: Sequence[Write]) -> Sequence[Write]:
        try:
            return Ready.of(writes, self._prepared(writes))
        except StorageError:
            return writes  # refused when it is stored

    async def commit_each(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        size = self._chunk_units
        starts = range(0, len(units), size)
        chunks = [self._chunk(units[start : start + size]) for start in starts]
        return [outcome for chunk in await asyncio.gather(*chunks) for outcome in chunk]

    async def _chunk(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        """Writes some units at a time, so that a single commit does not wait for thousands.

        The next chunk is encoded meanwhile.
        """
        async with self._encoding:
            outcomes = [self._prepared_or_refused(writes) for writes in units]
            await asyncio.sleep(0)
        async with self._queueing:
            prepared = [unit for unit in outcomes if isinstance(unit, PreparedUnit)]
            found = await self._written(prepared)
            for outcome in found:
                record_outcome(self, outcome)
            written = iter(found)
        return [next(written) if isinstance(o, PreparedUnit) else o for o in outcomes]

    def _prepared_or_refused(self, writes: Sequence[Write]) -> PreparedUnit | StorageError:
        if isinstance(writes, Ready):
            return cast(PreparedUnit, writes.prepared)
        try:
            return self._prepared(writes)
        except StorageError as error:
            return error

    def _prepared(self, writes: Sequence[Write]) -> PreparedUnit:
        return steps.prepare(self._tables, Unit(self._new_id(), tuple(writes)))

    async def _one_noted(self, prepared: PreparedUnit) -> Any:
        """Returns the result of a unit that writes, and records whether the store
        accepts writes.
        """
        try:
            result = await self._one(prepared)
        except StorageError as error:
            record_outcome(self, error)
            raise
        record_outcome(self, result)
        return result

    async def _one(self, prepared: PreparedUnit) -> Any:
        (outcome,) = await self._written([prepared])
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def applied(self, unit: Unit) -> bool | None:
        if deleted_only(unit.writes):
            return None
        try:
            asked = steps.prepare_applied(self._tables, self._new_id(), unit)
            return bool(await self._one(asked))
        except Unknown as error:
            raise Unavailable("the writer is busy; ask again") from error

    async def increment(self, key: str, by: int = 1, *, window: timedelta) -> Counter:
        counting = steps.prepare_increment(self._tables, self._new_id(), key, by, window)
        counter: Counter = await self._one_noted(counting)
        return counter
