"""The common part of stores that apply units by steps (`storage/steps.py`): everything about
writing except the transaction.
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
    PreparedWrites,
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
    """A store that checks and encodes units; subclasses implement how they are written.

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
    async def _write(self, units: list[PreparedUnit]) -> list[Any]:
        """Runs each unit's steps in the order of the list; returns each one's result, or its
        error.

        Cancelling the caller does not cancel the units.
        """

    async def commit(self, *writes: Write) -> None:
        await self._write_recorded(self._encode(writes))

    def prepare(self, writes: Sequence[Write]) -> Sequence[Write]:
        try:
            return PreparedWrites.of(writes, self._encode(writes))
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
            outcomes = [self._encode_or_refuse(writes) for writes in units]
            await asyncio.sleep(0)
        async with self._queueing:
            prepared = [unit for unit in outcomes if isinstance(unit, PreparedUnit)]
            write_outcomes = await self._write(prepared)
            for outcome in write_outcomes:
                record_outcome(self, outcome)
            written = iter(write_outcomes)
        return [
            next(written) if isinstance(outcome, PreparedUnit) else outcome for outcome in outcomes
        ]

    def _encode_or_refuse(self, writes: Sequence[Write]) -> PreparedUnit | StorageError:
        if isinstance(writes, PreparedWrites):
            return cast(PreparedUnit, writes.prepared)
        try:
            return self._encode(writes)
        except StorageError as error:
            return error

    def _encode(self, writes: Sequence[Write]) -> PreparedUnit:
        return steps.prepare(self._tables, Unit(self._new_id(), tuple(writes)))

    async def _write_recorded(self, prepared: PreparedUnit) -> Any:
        """Returns the result of a unit that writes, and records whether the store
        accepts writes.
        """
        try:
            result = await self._write_one(prepared)
        except StorageError as error:
            record_outcome(self, error)
            raise
        record_outcome(self, result)
        return result

    async def _write_one(self, prepared: PreparedUnit) -> Any:
        (outcome,) = await self._write([prepared])
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def applied(self, unit: Unit) -> bool | None:
        if deleted_only(unit.writes):
            return None
        try:
            check = steps.prepare_applied(self._tables, self._new_id(), unit)
            return bool(await self._write_one(check))
        except Unknown as error:
            raise Unavailable("the writer is busy; ask again") from error

    async def increment(self, key: str, by: int = 1, *, window: timedelta) -> Counter:
        prepared = steps.prepare_increment(self._tables, self._new_id(), key, by, window)
        counter: Counter = await self._write_recorded(prepared)
        return counter
