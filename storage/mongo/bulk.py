"""Many small units at once: as few commands as still allow an outcome for each unit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from storage.base import Outcome
from storage.mongo.documents import WriteOperation
from storage.mongo.driver import Driver
from storage.mongo.transactions import PreparedTransaction, commit_together
from storage.mongo.writes import deliver

UNITS_PER_COMMAND = 1000
UNITS_PER_TRANSACTION = 500
_AT_ONCE = 3  # the server works on one while the next is prepared

Placed = tuple[int, PreparedTransaction]


async def commit_each(driver: Driver, units: Sequence[PreparedTransaction]) -> list[Outcome]:
    """Applies every unit separately; units that write the same record are applied in order."""
    outcomes: list[Outcome] = [None] * len(units)
    turns = asyncio.Semaphore(_AT_ONCE)

    async def commit(chunk: list[Placed]) -> None:
        async with turns:
            found = await _commit(driver, [unit for _, unit in chunk])
        for (place, _), outcome in zip(chunk, found, strict=True):
            outcomes[place] = outcome

    for wave in _waves(units):
        await asyncio.gather(*map(commit, _chunks(wave)))
    return outcomes


async def _commit(driver: Driver, units: Sequence[PreparedTransaction]) -> list[Outcome]:
    if len(units[0].operations) == 1:
        return await deliver(driver, [unit.operations[0] for unit in units])
    return await commit_together(driver, units)


def _waves(units: Sequence[PreparedTransaction]) -> list[list[Placed]]:
    """Returns the units with their places; no two units in one wave write the same record."""
    waves: list[list[Placed]] = []
    last: dict[tuple[str, str], int] = {}
    for place, unit in enumerate(units):
        keys = [(operation.name, operation.write.id) for operation in unit.operations]
        wave = max(last.get(key, -1) for key in keys) + 1
        last.update(dict.fromkeys(keys, wave))
        if wave == len(waves):
            waves.append([])
        waves[wave].append((place, unit))
    return waves


def _chunks(wave: Sequence[Placed]) -> Iterator[list[Placed]]:
    """Yields units that share a command, or a transaction."""
    groups: dict[tuple[object, ...], list[Placed]] = {}
    for placed in wave:
        groups.setdefault(_sharing(*placed), []).append(placed)
    for key, group in groups.items():
        size = UNITS_PER_TRANSACTION if key == _TOGETHER else UNITS_PER_COMMAND
        for start in range(0, len(group), size):
            yield group[start : start + size]


_TOGETHER = ("transaction",)


def _sharing(place: int, unit: PreparedTransaction) -> tuple[object, ...]:
    if len(unit.operations) > 1:
        return _TOGETHER
    operation: WriteOperation = unit.operations[0]
    alone = place if operation.is_conditional_delete else None
    return (operation.name, operation.kind, alone)
