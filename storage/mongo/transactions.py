"""Units of several writes: in a transaction, alone or many units together.

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
from storage.mongo import faults
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

    If a unit is refused, the transaction is repeated without it, so the other units are applied
    nevertheless.
    """
    if not driver.has_sessions:
        return [await write_with_undo(driver, unit.operations) for unit in units]
    outcomes: list[Outcome] = [None] * len(units)
    left = list(range(len(units)))
    is_hopeful = len(units) > 1
    while left:
        going = [units[place] for place in left]
        refused = await _try_until_known(driver, _on_free_ground(going) if is_hopeful else going)
        if is_hopeful and _may_meet_expired(going, refused):
            is_hopeful = False
            continue
        for index, error in refused.items():
            outcomes[left[index]] = error
        if not refused:
            break
        left = [place for index, place in enumerate(left) if index not in refused]
    return outcomes


def _may_meet_expired(units: Sequence[PreparedTransaction], refused: Refusals) -> bool:
    """Returns whether a refused insert may only have met an expired record."""
    replacing = {each.name for unit in units for each in unit.operations if each.replaces}
    return any(
        isinstance(error, Conflict) and error.collection in replacing for error in refused.values()
    )


def _on_free_ground(units: Sequence[PreparedTransaction]) -> list[PreparedTransaction]:
    """Returns the units as if no record had to be replaced.

    A plain insert costs the server half as much, and few inserts meet an expired record.
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
                return await _attempt(driver, units, attempts)
        except (PyMongoError, TimeoutError) as error:
            # An error before the commit was sent leaves nothing behind, so it adds no doubt.
            if not attempts.may_go_on(error):
                return _failed(units, attempts, error)
        await attempts.pause()


def _failed(
    units: Sequence[PreparedTransaction], attempts: faults.Attempts, error: Exception
) -> Refusals:
    if attempts.is_in_doubt:
        return {place: Unknown(each.unit) for place, each in enumerate(units)}
    return {place: faults.unavailable(error) for place in range(len(units))}


async def _attempt(
    driver: Driver, units: Sequence[PreparedTransaction], attempts: faults.Attempts
) -> Refusals:
    async with driver.transaction() as session:
        refused = await _write_all(driver, units, session)
        if not refused:
            await _commit(driver, session, attempts)
            return {}
    if attempts.is_in_doubt:
        return await _resolved(driver, units, refused)
    return await _all_refused(driver, units, refused)


async def _commit(driver: Driver, session: Any, attempts: faults.Attempts) -> None:
    was_in_doubt = attempts.is_in_doubt
    attempts.is_in_doubt = True
    while True:
        try:
            await driver.sent(session.commit_transaction())
        except PyMongoError as error:
            if error.has_error_label("TransientTransactionError"):
                # It was not committed, and is repeated.
                attempts.is_in_doubt = was_in_doubt
                raise
            if not attempts.may_go_on(error):
                raise
            was_in_doubt = True
        else:
            return
        await attempts.pause()


async def _resolved(
    driver: Driver, units: Sequence[PreparedTransaction], refused: Refusals
) -> Refusals:
    """Returns the meaning of a refusal after a commit whose answer was lost: it may have been
    applied.
    """
    with_marks = [each for each in units if not codec.deleted_only(each.unit.writes)]
    if not with_marks:
        return {place: Unknown(each.unit) for place, each in enumerate(units)}
    return {} if await applied(driver, with_marks[0].operations) else refused


async def _write_all(
    driver: Driver, units: Sequence[PreparedTransaction], session: Any
) -> Refusals:
    """Writes everything, in as few commands as there are kinds and collections."""
    for group in _groups(units):
        places = list(group)
        operations = list(group.values())
        answer = await driver.write(operations, session)
        refused = await _refused(driver, operations, answer, session)
        if refused:
            return {places[index][0]: error for index, error in refused.items()}
    return {}


def _groups(
    units: Sequence[PreparedTransaction],
) -> Iterable[dict[tuple[int, int], WriteOperation]]:
    """Yields operations by kind, then collection; each with the place of its unit and its own."""
    groups: dict[tuple[Any, ...], dict[tuple[int, int], WriteOperation]] = {}
    for place, unit in enumerate(units):
        for number, operation in enumerate(unit.operations):
            solo = (place, number) if operation.is_conditional_delete else None
            key = (_KINDS.index(operation.kind), operation.name, solo)
            groups.setdefault(key, {})[place, number] = operation
    return [groups[key] for key in sorted(groups, key=lambda key: (key[0], key[1]))]


async def _refused(
    driver: Driver, operations: Sequence[WriteOperation], answer: DriverReply, session: Any
) -> Refusals:
    if answer.refused:
        return {
            place: faults.refusal(operations[place].name, details)
            for place, details in answer.refused.items()
        }
    first = operations[0]
    if first.kind == "insert" or (first.kind == "delete" and not first.is_conditional_delete):
        return {}
    if answer.found == len(operations):
        return {}
    marks = await marks_of(driver, operations, session)
    return {
        place: Stale(operation.name, operation.write.id)
        for place, operation in enumerate(operations)
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
    found = dict(refused)
    by_collection: dict[str, dict[int, list[WriteOperation]]] = {}
    for place, each in enumerate(units):
        if place in found or any(operation.kind != "insert" for operation in each.operations):
            continue
        for operation in each.operations:
            by_collection.setdefault(operation.name, {}).setdefault(place, []).append(operation)
    for inserts in by_collection.values():
        found |= await _taken(driver, inserts)
    return found


async def _taken(driver: Driver, inserts: Mapping[int, Sequence[WriteOperation]]) -> Refusals:
    collection = next(iter(inserts.values()))[0].write.collection
    if collection.expires:
        return {}
    everything = [operation for each in inserts.values() for operation in each]
    refused: dict[int, StorageError] = {}
    for field in ("_id", *collection.unique):
        values = [operation.change[field] for operation in everything]
        there = await driver.find(collection.name, {field: {"$in": values}}, projection={field: 1})
        taken = {document[field] for document in there}
        for place, each in inserts.items():
            if any(operation.change[field] in taken for operation in each):
                name = "id" if field == "_id" else field
                refused.setdefault(place, Conflict(collection.name, name))
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
        asked = WriteOperation(operation.unit, operation.write, "update", marked, _NOTHING)
        if (await driver.write([asked])).found:
            return True
    return False


async def finally_applied(driver: Driver, operations: Sequence[WriteOperation]) -> bool | None:
    """Returns whether a unit was applied; afterwards a unit with an update can't be applied any
    more.

    A server may still hold a command whose caller was cancelled. So the first record to update
    gets the unit's mark, because of which that command will skip it, and a second mark, which
    states that the unit was not applied.
    """
    for operation in operations:
        if operation.kind == "update" and await _is_ruled_out(driver, operation):
            return False
    return await applied(driver, operations)


async def _is_ruled_out(driver: Driver, operation: WriteOperation) -> bool:
    """Rules an update out, if it was not applied; returns whether it is ruled out, now
    or before.
    """
    id, note = operation.unit.id, f"not {operation.unit.id}"
    unmarked = {"_id": operation.write.id, MARKS: {"$ne": id}}
    change = {"$push": {MARKS: {"$each": [id, note], "$slice": -MAX_MARKS}}}
    asked = WriteOperation(operation.unit, operation.write, "update", unmarked, change)
    if (await driver.write([asked])).found:
        return True
    marks = await marks_of(driver, [operation])
    return note in marks.get(operation.write.id, ())
