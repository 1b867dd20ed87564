"""Observers of a store, such as metrics and traces, on which a store does not depend.

`open_store` wraps a store that has an observer. Without one nothing is measured.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final, Literal, Self

from msgspec import Struct, structs

Kind = Literal["read", "write"]
# The queue in which a command waits for a connection: the store's own for reads, or the driver's.
PoolQueue = Literal["reads", "driver"]
# The value that `began` has returned for the call of a store's method that runs now.
running_call: Final[ContextVar[Any]] = ContextVar("store call", default=None)


class Batch(Struct):
    """A command that was sent to the database for one or several calls of the store, and whether
    it failed.

    `calls` has the value that `Observer.began` returned for each call; None for a call that the
    observer was not notified of. `began` and `ended` are in nanoseconds of `time.perf_counter_ns`.
    `failed` is the name of the error by which the whole command failed."""

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
        """Is called when a call has returned, or with the error that it raised; `call` is
        the value that `began` returned."""

    @abstractmethod
    def batch(self, batch: Batch) -> None:
        """Is called when the database has answered a command, before `ended` is called for its
        calls."""

    def primary_changed(self, address: str) -> None:  # noqa: B027 - not every observer needs it
        """Notes that a replica set has another primary, of this address, than before."""

    def swept(self, collection: str, records: int) -> None:  # noqa: B027
        """Notes that this process has removed this number of expired records of a collection."""

    def log_copied(self, seconds: float) -> None:  # noqa: B027
        """Notes how long it took to copy SQLite's write-ahead log into the file."""

    def pool(self, active: int, idle: int) -> None:  # noqa: B027
        """Notes how many connections to the database are in use, and how many are not."""

    def pool_waits(self, queue: PoolQueue, seconds: Sequence[float]) -> None:  # noqa: B027
        """Notes how long commands have waited in this queue for a connection to the database."""


class ObserverGroup(Observer):
    """Passes everything on to several observers."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers

    def began(self, kind: Kind, method: str) -> tuple[Any, ...]:
        return tuple([observer.began(kind, method) for observer in self._observers])

    def ended(self, call: tuple[Any, ...], error: BaseException | None) -> None:
        for observer, observer_call in zip(self._observers, call, strict=True):
            observer.ended(observer_call, error)

    def batch(self, batch: Batch) -> None:
        for index, observer in enumerate(self._observers):
            calls = [None if call is None else call[index] for call in batch.calls]
            observer.batch(structs.replace(batch, calls=calls))

    def primary_changed(self, address: str) -> None:
        for observer in self._observers:
            observer.primary_changed(address)

    def swept(self, collection: str, records: int) -> None:
        for observer in self._observers:
            observer.swept(collection, records)

    def log_copied(self, seconds: float) -> None:
        for observer in self._observers:
            observer.log_copied(seconds)

    def pool(self, active: int, idle: int) -> None:
        for observer in self._observers:
            observer.pool(active, idle)

    def pool_waits(self, queue: PoolQueue, seconds: Sequence[float]) -> None:
        for observer in self._observers:
            observer.pool_waits(queue, seconds)


class ThreadReports:
    """Passes the reports of other threads to an observer, in the event loop that ran when this
    object was made. Without an observer nothing happens."""

    def __init__(self, observer: Observer | None) -> None:
        self._observer = observer
        self._loop = asyncio.get_running_loop()

    def send(self, report: Callable[[Observer], None]) -> None:
        """Calls `report` with the observer soon; may be called in any thread."""
        if self._observer is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile
                self._loop.call_soon_threadsafe(report, self._observer)


def current_call() -> Any:
    """Returns the value that `Observer.began` has returned for the call in which the current task
    is; None outside of a call.
    """
    return running_call.get()


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
