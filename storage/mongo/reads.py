"""Reads by id, and small queries: concurrent ones share one command."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct

from storage import deadline
from storage.base import Unavailable
from storage.mongo import faults
from storage.mongo.documents import MARKS, Document
from storage.mongo.driver import Driver
from storage.observer import BatchTimer, Observer, current_call

COMMANDS_IN_FLIGHT: Final = 2
MAX_WAIT_SECONDS: Final = 0.002
KEYS_PER_COMMAND: Final = 1000
_LINKED: Final = "_linked"

Key = tuple[str, str]
Documents = dict[Key, Document]
Link = tuple[str, str]  # a field of a document, and the collection of the ids that it has


class Selection(Struct, frozen=True):
    """A query of one collection: its conditions, its order, and how many documents it finds."""

    name: str
    conditions: Document
    sort: Sequence[tuple[str, int]]
    limit: int

    @property
    def stages(self) -> list[Document]:
        """The query as the stages of an aggregation."""
        ordered: list[Document] = [{"$sort": dict(self.sort)}] if self.sort else []
        return [{"$match": self.conditions}, *ordered, {"$limit": self.limit}]


async def documents(driver: Driver, keys: Iterable[Key], session: Any = None) -> Documents:
    """Returns the documents of these keys, pairs of a collection's name and an id, by key.

    It takes one command where the server and the session allow it.
    """
    ids: dict[str, list[str]] = {}
    for name, record_id in keys:
        ids.setdefault(name, []).append(record_id)
    if len(ids) > 1 and driver.shares_commands and session is None:
        return await _read_collections(driver, ids)
    documents_by_key: Documents = {}
    for name, record_ids in ids.items():
        conditions = {"_id": {"$in": record_ids} if len(record_ids) > 1 else record_ids[0]}
        options = {"batch_size": len(record_ids) + 1, "session": session}
        for document in await driver.find(name, conditions, **options):
            documents_by_key[name, document["_id"]] = document
    return documents_by_key


async def _read_collections(driver: Driver, ids: dict[str, list[str]]) -> Documents:
    parts = [
        _ReadPart(name, [_match_ids(record_ids)], len(record_ids))
        for name, record_ids in ids.items()
    ]
    lists = await _read_parts(driver, parts)
    return {
        (part.name, document["_id"]): document
        for part, documents in zip(parts, lists, strict=True)
        for document in documents
    }


class _ReadPart(Struct, frozen=True):
    """The part of a command that reads one collection: its stages, and the largest number of
    documents. `links` are those by which the stages add other documents."""

    name: str
    stages: list[Document]
    limit: int
    links: Sequence[Link] = ()


def _match_ids(ids: list[str]) -> Document:
    return {"$match": {"_id": {"$in": ids}}}


async def _read_parts(driver: Driver, parts: Sequence[_ReadPart]) -> list[list[Document]]:
    """Reads all parts by one command, and returns the documents of each."""
    # Readers do not need the marks; the number of the part replaces them.
    pipelines = [[*part.stages, {"$set": {MARKS: index}}] for index, part in enumerate(parts)]
    unions = [
        {"$unionWith": {"coll": part.name, "pipeline": pipeline}}
        for part, pipeline in zip(parts[1:], pipelines[1:], strict=True)
    ]
    # One more than the largest number, so that the driver knows that the first reply is the last.
    size = sum(part.limit for part in parts) + 1
    lists: list[list[Document]] = [[] for _ in parts]
    for document in await driver.aggregate(parts[0].name, pipelines[0] + unions, size):
        lists[document.pop(MARKS)].append(document)
    return lists


class _Batch:
    """The requests that are read by one command, and the futures of the callers.

    `linked` has the ids of documents that are read together with those that they name: by
    collection and links.
    """

    def __init__(self) -> None:
        self.keys: dict[Key, None] = {}
        self.linked: dict[tuple[str, tuple[Link, ...]], dict[str, None]] = {}
        self.waiting: list[asyncio.Future[Documents]] = []
        self.selections: list[tuple[Selection, asyncio.Future[list[Document]]]] = []
        self.calls: list[Any] = []

    @property
    def size(self) -> int:
        linked = sum(len(ids) * (1 + len(links)) for (_, links), ids in self.linked.items())
        return len(self.keys) + linked + sum(selection.limit for selection, _ in self.selections)

    @property
    def futures(self) -> list[asyncio.Future[Any]]:
        return [*self.waiting, *(future for _, future in self.selections)]

    async def read(self, driver: Driver) -> None:
        """Reads everything and gives each caller its answer."""
        if self.selections or self.linked:
            await self._read_by_parts(driver)
        else:
            self._answer(await documents(driver, self.keys))

    async def _read_by_parts(self, driver: Driver) -> None:
        if len(self.selections) == 1 and not self.waiting:
            ((selection, future),) = self.selections
            options = {"sort": selection.sort, "limit": selection.limit}
            read_documents = await driver.find(
                selection.name, selection.conditions, batch_size=selection.limit, **options
            )
            _resolve(future, read_documents)
            return
        id_parts = self._parts_by_id()
        selection_parts = [
            _ReadPart(selection.name, selection.stages, selection.limit)
            for selection, _ in self.selections
        ]
        answers = await _read_parts(driver, [*id_parts, *selection_parts])
        self._answer(_by_key(zip(id_parts, answers, strict=False)))
        for (_, future), read_documents in zip(
            self.selections, answers[len(id_parts) :], strict=True
        ):
            _resolve(future, read_documents)

    def _parts_by_id(self) -> list[_ReadPart]:
        ids: dict[str, list[str]] = {}
        linked_keys = {
            (name, linked_id)
            for (name, _), linked_ids in self.linked.items()
            for linked_id in linked_ids
        }
        for name, record_id in self.keys:
            if (name, record_id) not in linked_keys:
                ids.setdefault(name, []).append(record_id)
        plain_parts = [
            _ReadPart(name, [_match_ids(linked_ids)], len(linked_ids))
            for name, linked_ids in ids.items()
        ]
        linked_parts = [
            _ReadPart(
                name,
                [_match_ids(list(linked_ids)), *_lookup_stages(links)],
                len(linked_ids),
                links,
            )
            for (name, links), linked_ids in self.linked.items()
        ]
        return [*plain_parts, *linked_parts]

    def _answer(self, documents_by_key: Documents) -> None:
        for future in self.waiting:
            _resolve(future, documents_by_key)


def _resolve(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _lookup_stages(links: Sequence[Link]) -> list[Document]:
    """Returns the stages that add the documents which the fields of a document name, in fields
    that no record has."""
    return [
        {
            "$lookup": {
                "from": name,
                "localField": field,
                "foreignField": "_id",
                "as": f"{_LINKED}{number}",
            }
        }
        for number, (field, name) in enumerate(links)
    ]


def _by_key(answers: Iterable[tuple[_ReadPart, list[Document]]]) -> Documents:
    """Returns the documents of these parts by their keys, and those that were added to them."""
    by_key: Documents = {}
    for part, documents in answers:
        for document in documents:
            for number, (_, name) in enumerate(part.links):
                for linked in document.pop(f"{_LINKED}{number}"):
                    by_key[name, linked["_id"]] = linked
            by_key[part.name, document["_id"]] = document
    return by_key


class SharedReads:
    """Collects the requests that arrive while commands are in progress.

    A request joins a command that has not been sent yet, never one that has: the result is at
    least as new as the request. While a command is in progress the next one waits for its reply,
    because more requests join meanwhile; but only for MAX_WAIT_SECONDS.
    """

    def __init__(self, driver: Driver, observer: Observer | None = None) -> None:
        self._driver = driver
        self._observer = observer
        self._batches: deque[_Batch] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._is_scheduled = False
        self._timer: asyncio.TimerHandle | None = None

    async def fetch(self, keys: Iterable[Key]) -> Documents:
        """Returns the documents of `keys`, and possibly of others that were read by the same
        command.

        Raises Unavailable. At the deadline of the request, the caller gives up; the command
        continues, because it may answer others.
        """
        with deadline.TimedCall() as seconds:
            batch = self._join_batch()
            batch.keys.update(dict.fromkeys(keys))
            return await deadline.wait_for_answer(_add_waiter(batch.waiting), seconds, _no_answer)

    async def fetch_linked(
        self, keys: Iterable[Key], links: Mapping[str, tuple[Link, ...]]
    ) -> Documents:
        """Returns the documents that `fetch` returns, and those that their fields name; `links`
        has the links of a collection by its name. Raises Unavailable."""
        with deadline.TimedCall() as seconds:
            batch = self._join_batch()
            for name, record_id in keys:
                if name in links:
                    batch.linked.setdefault((name, links[name]), {})[record_id] = None
                else:
                    batch.keys[name, record_id] = None
            return await deadline.wait_for_answer(_add_waiter(batch.waiting), seconds, _no_answer)

    async def select(self, selection: Selection) -> list[Document]:
        """Returns the documents that a query finds. Raises Unavailable."""
        with deadline.TimedCall() as seconds:
            batch = self._join_batch()
            future: asyncio.Future[list[Document]] = asyncio.get_running_loop().create_future()
            batch.selections.append((selection, future))
            return await deadline.wait_for_answer(future, seconds, _no_answer)

    def _join_batch(self) -> _Batch:
        """Returns the batch that is sent next, for the caller to add to in the same turn of the
        event loop."""
        if not self._batches or self._batches[-1].size >= KEYS_PER_COMMAND:
            self._batches.append(_Batch())
        batch = self._batches[-1]
        batch.calls.append(current_call())
        if not self._is_scheduled:
            # After all other requests of this turn of the event loop, and of the next two: a task
            # that reads for the same caller may be begun by another one.
            self._is_scheduled = True
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, loop.call_soon, self._send)
        return batch

    async def drain(self) -> None:
        """Returns when no command is in progress, including those whose callers were cancelled."""
        while self._running:
            await asyncio.wait(set(self._running))

    def _send(self) -> None:
        self._is_scheduled = False
        if not self._running:
            self._send_next()
        elif self._batches and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(MAX_WAIT_SECONDS, self._send_next)

    def _send_next(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._batches and len(self._running) < COMMANDS_IN_FLIGHT:
            batch = self._batches.popleft()
            task = asyncio.get_running_loop().create_task(self._run_batch(batch))
            self._running.add(task)
            task.add_done_callback(partial(self._finish_batch, batch))

    async def _run_batch(self, batch: _Batch) -> None:
        with BatchTimer(self._observer, "mongodb", "read", "find", batch.calls):
            await faults.read(lambda: batch.read(self._driver))

    def _finish_batch(self, batch: _Batch, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._send()
        # Read in any case, or asyncio would report an error that no caller waits for.
        cause = None if task.cancelled() else task.exception()
        for answer in batch.futures:
            if answer.done():
                continue
            if task.cancelled():
                answer.cancel()
            else:
                # Each caller gets an error of its own, because each is raised in a different task.
                error = Unavailable(str(cause))
                error.__cause__ = cause
                answer.set_exception(error)


def _add_waiter(waiters: list[asyncio.Future[Documents]]) -> asyncio.Future[Documents]:
    future: asyncio.Future[Documents] = asyncio.get_running_loop().create_future()
    waiters.append(future)
    return future


def _no_answer() -> Unavailable:
    return Unavailable("MongoDB gives no answer before the deadline of the request")
