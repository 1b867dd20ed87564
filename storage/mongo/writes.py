"""Units of a single write: concurrent ones share one command, each with its own outcome."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Final

from pymongo.errors import PyMongoError

from storage import deadline
from storage.base import Outcome, Stale, StorageError, Unavailable, Unknown
from storage.mongo import faults
from storage.mongo.documents import MARKS, WriteOperation
from storage.mongo.driver import Driver, DriverReply
from storage.observer import BatchTimer, Observer, current_call

COMMANDS_IN_FLIGHT: Final = 3
UNITS_PER_COMMAND: Final = 200
WORTH_A_COMMAND: Final = 16
SOLO_COMMANDS_IN_FLIGHT: Final = 16
MAX_QUEUE_SCAN: Final = 1000


async def deliver(driver: Driver, operations: Sequence[WriteOperation]) -> list[Outcome]:
    """Applies operations of one collection and kind, on different records; returns the outcome of
    each.

    The command is repeated until its answer arrives; it skips what it has already applied.
    """
    attempts = faults.Attempts(operations[0].unit.id)
    while True:
        try:
            async with attempts.limit():
                return await _attempt(driver, operations, attempts)
        except (PyMongoError, TimeoutError) as error:
            if attempts.record_failure(error):
                return [_failure_outcome(operation, attempts, error) for operation in operations]
        await attempts.pause()


def _failure_outcome(
    operation: WriteOperation, attempts: faults.Attempts, error: Exception
) -> Outcome:
    if attempts.is_in_doubt:
        return Unknown(operation.unit)
    return faults.unavailable(error)


async def _attempt(
    driver: Driver, operations: Sequence[WriteOperation], attempts: faults.Attempts
) -> list[Outcome]:
    was_in_doubt = attempts.is_in_doubt
    reply = await driver.write(operations)
    # It is applied now, so a later error must not be reported as "not applied".
    attempts.is_in_doubt = True
    outcomes: list[Outcome] = [None] * len(operations)
    for index, details in reply.refused.items():
        outcomes[index] = faults.refusal(operations[index].name, details)
    uncertain = _uncertain(operations, reply, was_in_doubt)
    if not uncertain:
        return outcomes
    if not was_in_doubt and reply.matched_count == 0 and not reply.refused:
        return [Stale(operation.name, operation.write.id) for operation in operations]
    return await _by_marks(driver, operations, outcomes, uncertain, was_in_doubt)


def _uncertain(
    operations: Sequence[WriteOperation], reply: DriverReply, was_in_doubt: bool
) -> list[int]:
    """Returns the indexes of the operations whose outcome can't be derived from the reply
    alone."""
    first = operations[0]
    if first.kind == "insert" or (first.kind == "delete" and not first.is_conditional_delete):
        # An earlier command whose answer was lost may have caused the refusal.
        return list(reply.refused) if was_in_doubt else []
    if reply.matched_count + len(reply.refused) == len(operations):
        return []
    return [index for index in range(len(operations)) if index not in reply.refused]


async def _by_marks(
    driver: Driver,
    operations: Sequence[WriteOperation],
    outcomes: list[Outcome],
    uncertain: list[int],
    was_in_doubt: bool,
) -> list[Outcome]:
    """Fills in the outcomes that can be derived from the records only.

    The previous command was acknowledged by a majority, and with it all before it: a mark that is
    found now is durable.
    """
    marks = await marks_of(driver, [operations[index] for index in uncertain])
    for index in uncertain:
        operation = operations[index]
        if operation.unit.id in marks.get(operation.write.id, ()):
            outcomes[index] = None
        elif operation.kind == "insert":
            continue  # the refusal is final
        elif was_in_doubt and operation.write.id not in marks:
            outcomes[index] = Unknown(operation.unit)
        elif outcomes[index] is None:
            outcomes[index] = Stale(operation.name, operation.write.id)
    return outcomes


async def marks_of(
    driver: Driver, operations: Sequence[WriteOperation], session: object = None
) -> dict[str, list[str]]:
    """Returns, by record id, the marks of the records that these operations write: the ids of the
    last units that wrote them. Absent records have no entry."""
    ids = [operation.write.id for operation in operations]
    documents = await driver.find(
        operations[0].name,
        {"_id": {"$in": ids}},
        projection={MARKS: 1},
        batch_size=len(ids) + 1,
        session=session,
    )
    return {document["_id"]: document.get(MARKS, []) for document in documents}


class _Queued:
    def __init__(self, operation: WriteOperation) -> None:
        self.operation = operation
        self.outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.call = current_call()


class Lane:
    """The queue of units that have a single write, of one collection and one kind; they are sent
    in a few concurrent commands.

    A record has the ids of the last `MAX_MARKS` units that wrote it, its marks: by them a repeated
    command recognizes what it has already applied. Therefore only one unit for a record is in
    progress at a time: while its answer is lost, later ones could overwrite its mark, and it would
    be applied again. A conditional delete leaves no mark, so each is sent in a command of its own
    (`solo`).
    """

    def __init__(
        self, driver: Driver, *, solo: bool = False, observer: Observer | None = None
    ) -> None:
        self._driver = driver
        self._observer = observer
        self._size = 1 if solo else UNITS_PER_COMMAND
        self._width = SOLO_COMMANDS_IN_FLIGHT if solo else COMMANDS_IN_FLIGHT
        self._queue: deque[_Queued] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._records: set[str] = set()
        self._is_scheduled = False

    async def outcome(self, operation: WriteOperation, seconds: float) -> Outcome:
        """Queues the write of a unit, and returns its outcome. Cancelling the caller does not
        cancel the write.

        After `seconds` it raises Unknown; Unavailable if the write was not sent by then; it is
        removed from the queue.
        """
        queued = self._put(operation)
        return await deadline.wait_for_answer(
            queued.outcome, seconds, partial(self._time_out, queued)
        )

    def _put(self, operation: WriteOperation) -> _Queued:
        queued = _Queued(operation)
        self._queue.append(queued)
        if not self._is_scheduled:
            # After all other writes of this turn of the event loop.
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._send)
        return queued

    def _time_out(self, queued: _Queued) -> StorageError:
        if queued not in self._queue:
            return Unknown(queued.operation.unit)
        self._queue.remove(queued)
        return Unavailable("earlier writes are not answered, so this one was not sent")

    async def drain(self) -> None:
        """Returns when nothing is queued or in progress, including units whose callers were
        cancelled.
        """
        while self._queue or self._running:
            await (asyncio.wait(set(self._running)) if self._running else asyncio.sleep(0))

    def _send(self) -> None:
        self._is_scheduled = False
        while self._queue and len(self._running) < self._width:
            batch = self._next_batch()
            if not batch:
                return
            self._records.update(queued.operation.write.id for queued in batch)
            task = asyncio.get_running_loop().create_task(self._deliver(batch))
            self._running.add(task)
            task.add_done_callback(partial(self._delivered, batch))

    def _next_batch(self) -> list[_Queued]:
        """Returns as many units as fit into a command, never two for one record, because the
        counts in the reply could not be attributed to them.

        A long queue is distributed over all commands that may be sent, so that the server works on
        one of them while the next is prepared.
        """
        free_commands = self._width - len(self._running)
        size = min(self._size, max(WORTH_A_COMMAND, math.ceil(len(self._queue) / free_commands)))
        batch: dict[str, _Queued] = {}
        skipped: list[_Queued] = []
        for _ in range(min(len(self._queue), MAX_QUEUE_SCAN)):
            if len(batch) == size:
                break
            queued = self._queue.popleft()
            record_id = queued.operation.write.id
            if record_id in batch or record_id in self._records:
                skipped.append(queued)
            else:
                batch[record_id] = queued
        self._queue.extendleft(reversed(skipped))
        return list(batch.values())

    async def _deliver(self, batch: list[_Queued]) -> None:
        calls, operation = [queued.call for queued in batch], batch[0].operation.kind
        with BatchTimer(self._observer, "mongodb", "write", operation, calls):
            outcomes = await deliver(self._driver, [queued.operation for queued in batch])
        for queued, outcome in zip(batch, outcomes, strict=True):
            if not queued.outcome.done():
                queued.outcome.set_result(outcome)

    def _delivered(self, batch: list[_Queued], task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._records.difference_update(queued.operation.write.id for queued in batch)
        self._send()
        for queued in batch:
            if queued.outcome.done():
                continue
            if task.cancelled():
                queued.outcome.cancel()
            else:
                queued.outcome.set_exception(task.exception() or Unknown(queued.operation.unit))
