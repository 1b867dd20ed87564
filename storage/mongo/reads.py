"""Reads by id: concurrent ones share one command."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from storage import deadline
from storage.base import Unavailable
from storage.mongo import faults
from storage.mongo.documents import MARKS, Document
from storage.mongo.driver import Driver
from storage.observer import BatchTimer, Observer, current_call

COMMANDS_IN_FLIGHT: Final = 2
PATIENCE_SECONDS: Final = 0.002
KEYS_PER_COMMAND: Final = 1000

Key = tuple[str, str]
Documents = dict[Key, Document]


async def documents(driver: Driver, keys: Iterable[Key], session: Any = None) -> Documents:
    """Returns the documents of these keys, pairs of a collection's name and an id, by key.

    It takes one command where the server and the session allow it.
    """
    ids: dict[str, list[str]] = {}
    for name, id in keys:
        ids.setdefault(name, []).append(id)
    if len(ids) > 1 and driver.shares_commands and session is None:
        return await _of_several(driver, ids)
    found: Documents = {}
    for name, record_ids in ids.items():
        filter = {"_id": {"$in": record_ids} if len(record_ids) > 1 else record_ids[0]}
        options = {"batch_size": len(record_ids) + 1, "session": session}
        for document in await driver.find(name, filter, **options):
            found[name, document["_id"]] = document
    return found


async def _of_several(driver: Driver, ids: dict[str, list[str]]) -> Documents:
    names = list(ids)
    parts = [_part(place, ids[name]) for place, name in enumerate(names)]
    unions = [
        {"$unionWith": {"coll": name, "pipeline": part}}
        for name, part in zip(names[1:], parts[1:], strict=True)
    ]
    # One more than there can be, so that the first reply is also known to be the last.
    size = sum(map(len, ids.values())) + 1
    found = await driver.aggregate(names[0], parts[0] + unions, size)
    return {(names[document.pop(MARKS)], document["_id"]): document for document in found}


def _part(place: int, ids: list[str]) -> list[Document]:
    # Readers do not need the marks; the collection's place replaces them.
    return [{"$match": {"_id": {"$in": ids}}}, {"$set": {MARKS: place}}]


class _Batch:
    """Keys that are read by one command, and the futures of their callers."""

    def __init__(self) -> None:
        self.keys: dict[Key, None] = {}
        self.waiting: list[asyncio.Future[Documents]] = []
        self.calls: list[Any] = []


class SharedReads:
    """Collects the keys that are requested while commands are in progress.

    A key joins a command that has not been sent yet, never one that has: the result is at least as
    new as the request. While a command is in progress the next one waits for its reply, because
    more keys join meanwhile; but not for one that takes longer than usual.
    """

    def __init__(self, driver: Driver, observer: Observer | None = None) -> None:
        self._driver = driver
        self._observer = observer
        self._batches: deque[_Batch] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._is_scheduled = False
        self._patience: asyncio.TimerHandle | None = None

    async def fetch(self, keys: Iterable[Key]) -> Documents:
        """Returns the documents of `keys`, and perhaps of others that were read by the same
        command.

        Raises Unavailable. At the deadline of the request, the caller gives up; the command goes
        on, because it may answer others.
        """
        with deadline.TimedCall() as seconds:
            return await deadline.answered(self._queued(keys), seconds, _no_answer)

    def _queued(self, keys: Iterable[Key]) -> asyncio.Future[Documents]:
        """Adds the keys to the next command, and returns the future of its documents."""
        loop = asyncio.get_running_loop()
        if not self._batches or len(self._batches[-1].keys) >= KEYS_PER_COMMAND:
            self._batches.append(_Batch())
        batch = self._batches[-1]
        batch.keys.update(dict.fromkeys(keys))
        answer: asyncio.Future[Documents] = loop.create_future()
        batch.waiting.append(answer)
        batch.calls.append(current_call())
        if not self._is_scheduled:
            # After all other requests of this turn of the event loop.
            self._is_scheduled = True
            loop.call_soon(self._send)
        return answer

    async def drain(self) -> None:
        """Returns when no command is in progress, including those whose callers were cancelled."""
        while self._running:
            await asyncio.wait(set(self._running))

    def _send(self) -> None:
        self._is_scheduled = False
        if not self._running:
            self._send_next()
        elif self._batches and self._patience is None:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(PATIENCE_SECONDS, self._send_next)

    def _send_next(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if self._batches and len(self._running) < COMMANDS_IN_FLIGHT:
            batch = self._batches.popleft()
            task = asyncio.get_running_loop().create_task(self._ask(batch))
            self._running.add(task)
            task.add_done_callback(partial(self._answered, batch))

    async def _ask(self, batch: _Batch) -> None:
        with BatchTimer(self._observer, "mongodb", "read", "find", batch.calls):
            found = await faults.read(lambda: documents(self._driver, batch.keys))
        for answer in batch.waiting:
            if not answer.done():
                answer.set_result(found)

    def _answered(self, batch: _Batch, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._send()
        # Read in any case, or asyncio would report an error for which no caller waits any more.
        cause = None if task.cancelled() else task.exception()
        for answer in batch.waiting:
            if answer.done():
                continue
            if task.cancelled():
                answer.cancel()
            else:
                # Each caller gets an error of its own, because each is raised and chained
                # elsewhere.
                error = Unavailable(str(cause))
                error.__cause__ = cause
                answer.set_exception(error)


def _no_answer() -> Unavailable:
    return Unavailable("MongoDB gives no answer before the deadline of the request")
