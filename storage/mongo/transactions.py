"""Units of several writes, each in a transaction of its own or many in one transaction.

A transaction is data that was prepared before it begins, so it can be repeated whenever the server
aborts it; its commit is repeated in its own session until the answer arrives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs
from pymongo.errors import PyMongoError

from storage import codec
from storage.base import MAX_MARKS, Conflict, Outcome, Stale, StorageError, Unit, Unknown
from storage.mongo import confirmed_reads, faults
from storage.mongo.documents import MARKS, WriteOperation
from storage.mongo.driver import Driver, DriverReply
from storage.mongo.imitation import write_with_undo
from storage.mongo.writes import marks_of

# Deletes free keys for updates and inserts of the same unit, updates for inserts.
_KINDS = ("delete", "update", "insert")
_NOTHING = {"$unset": {"_nothing": ""}}
Refusals = Mapping[int, StorageError]


class PreparedTransaction(Struct, frozen=True):
    """A unit and its encoded operations."""

    unit: Unit
    operations: list[WriteOperation]


async def commit_together(driver: Driver, units: Sequence[PreparedTransaction]) -> list[Outcome]:
    """Commits units on different records in one transaction, and returns the outcome of each, None
    if it was applied.

    If a unit is refused, the transaction is repeated without it, so the other units are still
    applied.
    """
    if not driver.has_sessions:
        return [await write_with_undo(driver, unit.operations) for unit in units]
    outcomes: list[Outcome] = [None] * len(units)
    remaining = list(range(len(units)))
    is_plain = len(units) > 1
    while remaining:
        attempted = [units[index] for index in remaining]
        units_to_try = _without_replacing(attempted) if is_plain else attempted
        refused = await _try_until_known(driver, units_to_try)
        if is_plain and _may_have_met_expired(attempted, refused):
            is_plain = False
            continue
        for position, error in refused.items():
            outcomes[remaining[position]] = error
        if not refused:
            break
        remaining = [index for position, index in enumerate(remaining) if position not in refused]
    return outcomes


def _may_have_met_expired(units: Sequence[PreparedTransaction], refused: Refusals) -> bool:
    """Returns whether an insert may have been refused only because of an expired record."""
    replacing = {
        operation.name for unit in units for operation in unit.operations if operation.replaces
    }
    return any(
        isinstance(error, Conflict) and error.collection in replacing for error in refused.values()
    )


def _without_replacing(units: Sequence[PreparedTransaction]) -> list[PreparedTransaction]:
    """Returns the units with plain inserts, which replace no expired record.

    A plain insert costs the server half as much, and few inserts find an expired record.
    """
    return [
        PreparedTransaction(unit.unit, [_plain(operation) for operation in unit.operations])
        for unit in units
    ]


def _plain(operation: WriteOperation) -> WriteOperation:
    return structs.replace(operation, replaces=False) if operation.replaces else operation


async def _try_until_known(driver: Driver, units: Sequence[PreparedTransaction]) -> Refusals:
    """Returns the refused units; all are committed if there are none, and otherwise no unit is."""
    attempts = faults.Attempts(units[0].unit.id)
    while True:
        try:
            async with attempts.limit():
                refused = await _attempt(driver, units, attempts)
            if refused is not None:
                return refused
        except (PyMongoError, TimeoutError) as error:
            # Nothing was applied if the error came before the commit was sent.
            if not attempts.may_repeat(error):
                return _failed(units, attempts, error)
        await attempts.pause()


def _failed(
    units: Sequence[PreparedTransaction], attempts: faults.Attempts, error: Exception
) -> Refusals:
    if attempts.is_in_doubt:
        return {index: Unknown(unit.unit) for index, unit in enumerate(units)}
    return {index: faults.unavailable(error) for index in range(len(units))}


async def _attempt(
    driver: Driver, units: Sequence[PreparedTransaction], attempts: faults.Attempts
) -> Refusals | None:
    """Returns the refused units; None if they were refused because of records that were rolled
    back meanwhile."""
    async with driver.transaction() as session:
        refused = await _write_all(driver, units, session)
        if not refused:
            await _commit(driver, session, attempts)
            return {}
    if attempts.is_in_doubt:
        was_committed = await _was_committed(driver, units)
        if was_committed is None:
            return {index: Unknown(unit.unit) for index, unit in enumerate(units)}
        if was_committed:
            return {}
    if not await confirmed_reads.are_final(driver, [unit.operations for unit in units], refused):
        return None
    return await _all_refused(driver, units, refused)


async def _commit(driver: Driver, session: Any, attempts: faults.Attempts) -> None:
    was_in_doubt = attempts.is_in_doubt
    attempts.is_in_doubt = True
    while True:
        try:
            await driver.send(session.commit_transaction())
        except PyMongoError as error:
            if error.has_error_label("TransientTransactionError"):
                # It was not committed, and is repeated.
                attempts.is_in_doubt = was_in_doubt
                raise
            if not attempts.may_repeat(error):
                raise
            was_in_doubt = True
        else:
            return
        await attempts.pause()


async def _was_committed(driver: Driver, units: Sequence[PreparedTransaction]) -> bool | None:
    """Returns whether the commit whose answer was lost was applied; None if it left no mark."""
    with_marks = [unit for unit in units if not codec.deleted_only(unit.unit.writes)]
    return await applied(driver, with_marks[0].operations) if with_marks else None


async def _write_all(
    driver: Driver, units: Sequence[PreparedTransaction], session: Any
) -> Refusals:
    """Writes everything, in as few commands as there are kinds and collections."""
    for group in _groups(units):
        positions = list(group)
        operations = list(group.values())
        reply = await driver.write(operations, session)
        refused = await _refused(driver, operations, reply, session)
        if refused:
            return {positions[index][0]: error for index, error in refused.items()}
    return {}


def _groups(
    units: Sequence[PreparedTransaction],
) -> Iterable[dict[tuple[int, int], WriteOperation]]:
    """Yields operations by kind, then collection; each with the index of its unit and its own
    index in the unit."""
    groups: dict[tuple[Any, ...], dict[tuple[int, int], WriteOperation]] = {}
    for index, unit in enumerate(units):
        for number, operation in enumerate(unit.operations):
            separate_key = (index, number) if operation.is_conditional_delete else None
            key = (_KINDS.index(operation.kind), operation.name, separate_key)
            groups.setdefault(key, {})[index, number] = operation
    return [groups[key] for key in sorted(groups, key=lambda key: (key[0], key[1]))]


async def _refused(
    driver: Driver, operations: Sequence[WriteOperation], reply: DriverReply, session: Any
) -> Refusals:
    if reply.refused:
        return {
            index: faults.refusal(operations[index].name, details)
            for index, details in reply.refused.items()
        }
    first = operations[0]
    if first.kind == "insert" or (first.kind == "delete" and not first.is_conditional_delete):
        return {}
    if reply.matched_count == len(operations):
        return {}
    marks = await marks_of(driver, operations, session)
    return {
        index: Stale(operation.name, operation.write.id)
        for index, operation in enumerate(operations)
        if operation.unit.id not in marks.get(operation.write.id, ())
    }


async def _all_refused(
    driver: Driver, units: Sequence[PreparedTransaction], refused: Refusals
) -> Refusals:
    """Returns all refused units.

    A transaction ends at its first duplicate key; the others are found by a query of the keys.
    Without it, importing existing records would need a transaction for every record.
    """
    if len(units) == 1 or not any(isinstance(error, Conflict) for error in refused.values()):
        return refused
    causes = dict(refused)
    by_collection: dict[str, dict[int, list[WriteOperation]]] = {}
    for index, unit in enumerate(units):
        if index in causes or any(operation.kind != "insert" for operation in unit.operations):
            continue
        for operation in unit.operations:
            by_collection.setdefault(operation.name, {}).setdefault(index, []).append(operation)
    for inserts in by_collection.values():
        causes |= await _find_conflicts(driver, inserts)
    return causes


async def _find_conflicts(
    driver: Driver, inserts: Mapping[int, Sequence[WriteOperation]]
) -> Refusals:
    collection = next(iter(inserts.values()))[0].write.collection
    if collection.expires:
        return {}
    all_inserts = [operation for unit_inserts in inserts.values() for operation in unit_inserts]
    refused: dict[int, StorageError] = {}
    for field in ("_id", *collection.unique):
        values = [operation.change[field] for operation in all_inserts]
        documents = await confirmed_reads.find(
            driver, collection.name, {field: {"$in": values}}, projection={field: 1}
        )
        existing = {document[field] for document in documents}
        for index, unit_inserts in inserts.items():
            if any(operation.change[field] in existing for operation in unit_inserts):
                name = "id" if field == "_id" else field
                refused.setdefault(index, Conflict(collection.name, name))
    return refused


async def applied(driver: Driver, operations: Sequence[WriteOperation]) -> bool | None:
    """Returns whether a unit was applied, by its mark on any record; None when it only deletes.

    The query is an update that changes nothing: a majority acknowledges it, and with it the mark.
    """
    if codec.deleted_only([operation.write for operation in operations]):
        return None
    for operation in operations:
        if operation.kind == "delete":
            continue
        marked = {"_id": operation.write.id, MARKS: operation.unit.id}
        query = WriteOperation(operation.unit, operation.write, "update", marked, _NOTHING)
        if (await driver.write([query])).matched_count:
            return True
    return False


async def finally_applied(driver: Driver, operations: Sequence[WriteOperation]) -> bool | None:
    """Returns whether a unit was applied; afterwards a unit with an update can no longer be
    applied.

    A server may still hold a command whose caller was cancelled. So the first record to update
    gets the unit's mark, because of which that command will skip it, and a second mark, which
    states that the unit was not applied.
    """
    for operation in operations:
        if operation.kind == "update" and await _is_ruled_out(driver, operation):
            return False
    return await applied(driver, operations)


async def _is_ruled_out(driver: Driver, operation: WriteOperation) -> bool:
    """Prevents an update that was not applied from being applied later; returns whether it is
    prevented, now or by an earlier call.
    """
    unit_id, second_mark = operation.unit.id, f"not {operation.unit.id}"
    unmarked = {"_id": operation.write.id, MARKS: {"$ne": unit_id}}
    change = {"$push": {MARKS: {"$each": [unit_id, second_mark], "$slice": -MAX_MARKS}}}
    update = WriteOperation(operation.unit, operation.write, "update", unmarked, change)
    if (await driver.write([update])).matched_count:
        return True
    marks = await marks_of(driver, [operation])
    return second_mark in marks.get(operation.write.id, ())
