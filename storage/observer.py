"""Observers of a store: metrics and traces, of which a store knows nothing.

`open_store` wraps a store that has an observer. Without one nothing is measured.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any, Final, Literal, Self, TypeVar

from msgspec import Struct, structs

from storage.base import (
    COUNT_CAP,
    FIRST_SCHEMA,
    Collection,
    Counter,
    Cursor,
    Outcome,
    Page,
    R,
    Reader,
    Schema,
    Store,
    Unit,
    Value,
    Where,
    Write,
)
from storage.condition import FileState, ServerState

T = TypeVar("T")
Kind = Literal["read", "write"]
# Where a command waits for a connection: the store's own queue of reads, or the driver's pool.
PoolQueue = Literal["reads", "driver"]
# The call of a store's method that runs now: what `began` has returned for it.
_current: Final[ContextVar[Any]] = ContextVar("store call", default=None)


class Batch(Struct):
    """A command that was sent to the database for one or several calls of the store, and whether
    it failed.

    `calls` has what `Observer.began` returned for each call; None for one that the observer was
    not notified of. `began` and `ended` are in nanoseconds of `time.perf_counter_ns`. `failed` is
    the name of the error by which the whole command failed.
    """

    system: str
    kind: Kind
    operation: str
    calls: Sequence[Any]
    began: int
    ended: int = 0
    failed: str | None = None


class Observer(ABC):
    """Observes the calls of a store's methods, and the commands that they share. Its methods are
    called on the event loop and must neither wait nor raise.
    """

    @abstractmethod
    def began(self, kind: Kind, method: str) -> Any:
        """Is called when the current task begins a call of the store's `method`. Returns any
        value, which is passed to `ended` and to `batch` to identify the call."""

    @abstractmethod
    def ended(self, call: Any, error: BaseException | None) -> None:
        """Is called when a call has returned, or with the error that it raised; `call` is what
        `began` returned."""

    @abstractmethod
    def batch(self, batch: Batch) -> None:
        """Is called when the database has answered a command, before `ended` is called for its
        calls."""

    def primary_changed(self, address: str) -> None:  # noqa: B027 - not every observer needs it
        """Notes that a replica set has another primary, of this address, than before."""

    def swept(self, collection: str, records: int) -> None:  # noqa: B027
        """Notes that this process has removed so many expired records of a collection."""

    def log_copied(self, seconds: float) -> None:  # noqa: B027
        """Notes how long it took to copy SQLite's write-ahead log into the file."""

    def pool(self, active: int, idle: int) -> None:  # noqa: B027
        """Notes how many connections to the database are in use, and how many are not."""

    def pool_waits(self, queue: PoolQueue, seconds: Sequence[float]) -> None:  # noqa: B027
        """Notes how long commands have waited in this queue for a connection to the database."""


class Together(Observer):
    """Passes everything on to several observers."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers

    def began(self, kind: Kind, method: str) -> tuple[Any, ...]:
        return tuple([each.began(kind, method) for each in self._observers])

    def ended(self, call: tuple[Any, ...], error: BaseException | None) -> None:
        for each, its_call in zip(self._observers, call, strict=True):
            each.ended(its_call, error)

    def batch(self, batch: Batch) -> None:
        for place, each in enumerate(self._observers):
            calls = [None if call is None else call[place] for call in batch.calls]
            each.batch(structs.replace(batch, calls=calls))

    def primary_changed(self, address: str) -> None:
        for each in self._observers:
            each.primary_changed(address)

    def swept(self, collection: str, records: int) -> None:
        for each in self._observers:
            each.swept(collection, records)

    def log_copied(self, seconds: float) -> None:
        for each in self._observers:
            each.log_copied(seconds)

    def pool(self, active: int, idle: int) -> None:
        for each in self._observers:
            each.pool(active, idle)

    def pool_waits(self, queue: PoolQueue, seconds: Sequence[float]) -> None:
        for each in self._observers:
            each.pool_waits(queue, seconds)


class ThreadReports:
    """Passes what other threads report on to an observer, in the event loop of the construction.
    Without an observer nothing happens.
    """

    def __init__(self, observer: Observer | None) -> None:
        self._observer = observer
        self._loop = asyncio.get_running_loop()

    def pass_on(self, report: Callable[[Observer], None]) -> None:
        """Calls `report` with the observer soon; may be called in any thread."""
        if self._observer is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile
                self._loop.call_soon_threadsafe(report, self._observer)


def current_call() -> Any:
    """Returns what `Observer.began` has returned for the call in which the current task is; None
    outside of one.
    """
    return _current.get()


class BatchTimer:
    """Measures a command from the construction to `stop`; `report` then passes the measurement to
    the observer. The end of a `with` block does both. Without an observer, nothing happens."""

    def __init__(
        self,
        observer: Observer | None,
        system: str,
        kind: Kind,
        operation: str,
        calls: Sequence[Any],
    ) -> None:
        self._observer = observer
        if observer is not None:
            self._batch = Batch(system, kind, operation, calls, time.perf_counter_ns())

    def stop(self) -> None:
        """Ends the measurement; may be called in another thread than `report`."""
        if self._observer is not None:
            self._batch.ended = time.perf_counter_ns()

    def report(self) -> None:
        """Passes the measured command on to the observer."""
        if self._observer is not None:
            self._observer.batch(self._batch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._observer is not None and kind is not None:
            self._batch.failed = kind.__name__
        self.stop()
        self.report()


class ObservedStore(Store):
    """A store that notifies the observer of its calls and passes them to `store`, which must not
    be open yet."""

    def __init__(self, store: Store, observer: Observer) -> None:
        self._store = store
        self._observer = observer
        store.observer = observer

    @property
    def is_read_only(self) -> bool:  # type: ignore[override]
        return self._store.is_read_only

    async def _observed(self, kind: Kind, method: str, work: Awaitable[T]) -> T:
        call = self._observer.began(kind, method)
        token = _current.set(call)
        try:
            result = await work
        except BaseException as error:
            self._observer.ended(call, error)
            raise
        finally:
            _current.reset(token)
        self._observer.ended(call, None)
        return result

    async def open(
        self, collections: Sequence[Collection[Any]], schema: Schema | None = FIRST_SCHEMA
    ) -> None:
        await self._store.open(collections, schema)

    async def close(self) -> None:
        await self._store.close()

    async def get(self, collection: Collection[R], id: str) -> R | None:  # noqa: A002 - the contract
        return await self._observed("read", "get", self._store.get(collection, id))

    async def get_many(self, keys: Sequence[tuple[Collection[Any], str]]) -> list[Any]:
        return await self._observed("read", "get_many", self._store.get_many(keys))

    async def find(
        self,
        collection: Collection[R],
        where: Where | None = None,
        *,
        order: str | None = None,
        descending: bool = False,
        limit: int = 100,
        after: Cursor | None = None,
    ) -> Page[R]:
        work = self._store.find(
            collection, where, order=order, descending=descending, limit=limit, after=after
        )
        return await self._observed("read", "find", work)

    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], most: int = 2
    ) -> dict[Value, list[R]]:
        work = self._store.find_each(collection, field, values, most)
        return await self._observed("read", "find_each", work)

    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        return await self._observed(
            "read", "count", self._store.count(collection, where, up_to=up_to)
        )

    def scan(
        self, collection: Collection[R], where: Mapping[str, Value] | None = None
    ) -> AsyncIterator[R]:
        return self._store.scan(collection, where)

    def snapshot(self) -> AbstractAsyncContextManager[Reader]:
        return self._store.snapshot()

    async def commit(self, *writes: Write) -> None:
        await self._observed("write", "commit", self._store.commit(*writes))

    def ready(self, writes: Sequence[Write]) -> Sequence[Write]:
        return self._store.ready(writes)

    def loading(self) -> AbstractAsyncContextManager[object]:
        return self._store.loading()

    async def commit_each(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        return await self._observed("write", "commit_each", self._store.commit_each(units))

    async def applied(self, unit: Unit) -> bool | None:
        return await self._observed("write", "applied", self._store.applied(unit))

    async def increment(self, key: str, by: int = 1, *, window: timedelta) -> Counter:
        work = self._store.increment(key, by, window=window)
        return await self._observed("write", "increment", work)

    async def ping(self) -> None:
        await self._store.ping()

    async def server_time(self) -> datetime | None:
        return await self._store.server_time()

    async def overdue(self, *, up_to: int) -> int:
        return await self._store.overdue(up_to=up_to)

    @property
    def is_sharded(self) -> bool:  # type: ignore[override]
        return self._store.is_sharded

    async def missing_indexes(self, collections: Sequence[Any]) -> list[str]:
        return await self._store.missing_indexes(collections)

    async def file_state(self) -> FileState | None:
        return await self._store.file_state()

    async def damage(self, up_to: int) -> list[str]:
        return await self._store.damage(up_to)

    async def server_state(self) -> ServerState | None:
        return await self._store.server_state()

    async def leaves_no_trace(self) -> bool:
        return await self._store.leaves_no_trace()

    async def engine_version(self) -> str:
        return await self._store.engine_version()
