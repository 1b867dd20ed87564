"""Units of several writes without sessions (mongomock-motor, for tests): all applied, or all
undone.
"""

from __future__ import annotations

from collections.abc import Sequence

from storage.base import Outcome
from storage.mongo.documents import Document, WriteOperation
from storage.mongo.driver import Driver
from storage.mongo.writes import deliver


async def write_with_undo(driver: Driver, operations: Sequence[WriteOperation]) -> Outcome:
    """Applies one write after the other, and undoes all when one is refused.

    No other task sees an intermediate state, because the imitation never yields to the event loop.
    """
    applied: list[tuple[WriteOperation, list[Document]]] = []
    for operation in sorted(operations, key=lambda operation: _ORDER[operation.kind]):
        before = await driver.find(operation.name, {"_id": operation.write.id})
        outcome = (await deliver(driver, [operation]))[0]
        if outcome is not None:
            await _undo(driver, applied)
            return outcome
        applied.append((operation, before))
    return None


# As in a transaction: deletes free keys for updates and inserts, updates for inserts.
_ORDER = {"delete": 0, "update": 1, "insert": 2}


async def _undo(driver: Driver, applied: Sequence[tuple[WriteOperation, list[Document]]]) -> None:
    for operation, before in reversed(applied):
        collection = driver.collection(operation.name)
        await collection.delete_one({"_id": operation.write.id})
        for document in before:
            await collection.insert_one(document)
