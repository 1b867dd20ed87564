"""Many small units in as few commands as possible, with an outcome for each unit."""

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
_MAX_CONCURRENT = 3  # the server works on one while the next is prepared

IndexedUnit = tuple[int, PreparedTransaction]


async def commit_each(driver: Driver, units: Sequence[PreparedTransaction]) -> list[Outcome]:
    """Applies every unit separately; units that write the same record are applied in order."""
    outcomes: list[Outcome] = [None] * len(units)
    semaphore = asyncio.Semaphore(_MAX_CONCURRENT)

    async def commit(chunk: list[IndexedUnit]) -> None:
        async with semaphore:
            chunk_outcomes = await _commit(driver, [unit for _, unit in chunk])
        for (index, _), outcome in zip(chunk, chunk_outcomes, strict=True):
            outcomes[index] = outcome

    for batch in _batches(units):
        await asyncio.gather(*map(commit, _chunks(batch)))
    return outcomes


async def _commit(driver: Driver, units: Sequence[PreparedTransaction]) -> list[Outcome]:
    if len(units[0].operations) == 1:
        return await deliver(driver, [unit.operations[0] for unit in units])
    return await commit_together(driver, units)


def _batches(units: Sequence[PreparedTransaction]) -> list[list[IndexedUnit]]:
    """Returns the units with their indexes; no two units in one batch write the same record."""
    batches: list[list[IndexedUnit]] = []
    last_batches: dict[tuple[str, str], int] = {}
    for index, unit in enumerate(units):
        keys = [(operation.name, operation.write.id) for operation in unit.operations]
        batch = max(last_batches.get(key, -1) for key in keys) + 1
        last_batches.update(dict.fromkeys(keys, batch))
        if batch == len(batches):
            batches.append([])
        batches[batch].append((index, unit))
    return batches


def _chunks(batch: Sequence[IndexedUnit]) -> Iterator[list[IndexedUnit]]:
    """Yields units that share a command, or a transaction."""
    groups: dict[tuple[object, ...], list[IndexedUnit]] = {}
    for indexed_unit in batch:
        groups.setdefault(_group_key(*indexed_unit), []).append(indexed_unit)
    for key, group in groups.items():
        size = UNITS_PER_TRANSACTION if key == _IN_TRANSACTION else UNITS_PER_COMMAND
        for start in range(0, len(group), size):
            yield group[start : start + size]


_IN_TRANSACTION = ("transaction",)


def _group_key(index: int, unit: PreparedTransaction) -> tuple[object, ...]:
    if len(unit.operations) > 1:
        return _IN_TRANSACTION
    operation: WriteOperation = unit.operations[0]
    separate_index = index if operation.is_conditional_delete else None
    return (operation.name, operation.kind, separate_index)
