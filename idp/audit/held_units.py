"""Work whose last unit is held until its answer is known, so that both are stored together.

A `HoldingStore` is the store that such work gets. A unit that is committed there is held, as if it
were stored: the work continues and returns its answer. Then `store_with_answer` commits the unit
together with the records of the answer. If the store refuses it (Conflict, Stale), the work is
repeated, and its commit raises what the store raised: so it handles a concurrent change as it does
where no unit is held.

Writes that must be stored whatever the outcome of the work, such as the count of an attempt at a
password, are committed to the store itself: `storing_directly`.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, cast

from msgspec import structs

from idp.foundation.background_tasks import BackgroundTasks
from idp.records import SIGNING_KEYS
from idp.service import Service
from storage import (
    Collection,
    Conflict,
    Delete,
    Insert,
    Key,
    Stale,
    StorageError,
    Store,
    Update,
    Write,
)
from storage.confirmed_commit import commit_confirmed
from storage.confirming import record_commit
from storage.following import Follow, RecordsByName, read_sequentially


class AlreadyStored(Exception):
    """The records of the answer are in the store already: another process has done the same work,
    so the held unit was not stored."""


class HeldUnitRefused(Exception):
    """The store refused the held unit: the work has to be repeated."""


class HoldingStore:
    """The store for one piece of work, which holds the last unit.

    `failures` are the errors with which the work's units were refused before, in order: they are
    raised again, and the next unit is held. `answer_writes` returns the writes
    that record an answer.
    """

    def __init__(
        self,
        service: Service,
        failures: list[StorageError],
        answer_writes: Callable[[bytes], Sequence[Write]],
    ) -> None:
        self._service = service
        self._store = service.store
        self._failures = failures
        self._next_failures = list(failures)
        self._answer_writes = answer_writes
        self._held: tuple[Write, ...] | None = None
        self._later: list[Callable[[], Awaitable[object]]] = []
        self._early_answer: bytes | None = None
        self._has_flushed = False
        self.is_stored = False
        self.has_answer = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @property
    def storing_directly(self) -> Service:
        """The service with the underlying store, whose commits are not held."""
        return self._service

    def service(self) -> Service:
        """Returns the service for the work: its store is this one, and its background tasks are
        started once the held unit is stored."""
        return replace(
            self._service,
            store=cast(Store, self),
            background_tasks=cast(
                BackgroundTasks, _LaterTasks(self, self._service.background_tasks)
            ),
            wake_importer=self._wake if self._service.wake_importer else None,
        )

    def answer_early(self, answer: bytes) -> None:
        """Sets the answer before the first unit, which is then stored together with this
        answer. This is for work of several units that is resumed by a background task if it is
        interrupted after the first."""
        self._early_answer = answer

    def do_later(self, step: Callable[[], Awaitable[object]]) -> None:
        """Registers a function that is called once everything is stored."""
        self._later.append(step)

    async def get(self, collection: Collection[Any], record_id: str) -> Any:
        (record,) = await self.get_many([(collection, record_id)])
        return record

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        records = await self._store.get_many(keys)
        held = {(write.collection.name, write.id): write for write in self._held or ()}
        return [
            _record_after(record, held.get((collection.name, record_id)))
            for record, (collection, record_id) in zip(records, keys, strict=True)
        ]

    async def get_following(self, keys: Sequence[Key], follow: Sequence[Follow]) -> RecordsByName:
        return await read_sequentially(cast(Store, self), keys, follow)

    async def commit(self, *writes: Write) -> None:
        """Holds the unit of these writes, after storing the unit that was held before. Raises
        HeldUnitRefused if that one was refused."""
        if self.is_stored:
            await self._store.commit(*writes)
        elif self._early_answer is not None:
            await self._commit_with_answer(self._early_answer, writes)
            self.is_stored = True
        # The errors of the earlier attempts again, so that the work takes the same path.
        elif self._next_failures:
            raise self._next_failures.pop(0)
        else:
            await self.flush()
            self._held = writes
            record_commit()  # that it will be stored is a condition of the answer

    async def commit_each(self, units: Sequence[Sequence[Write]]) -> Any:
        await self.flush()
        return await self._store.commit_each(units)

    async def flush(self) -> None:
        """Stores the held unit, if there is one, without an answer. Raises HeldUnitRefused,
        StorageError."""
        held, self._held = self._held, None
        if held is not None:
            try:
                await self._commit(held)
            except (Conflict, Stale) as error:
                raise self._refused(error) from error
            self._has_flushed = True

    async def store_with_answer(self, answer: bytes) -> None:
        """Stores the held unit together with its answer, then calls the registered functions. If
        no unit is held, the answer is not recorded, because repeating the work then changes
        nothing twice. Raises AlreadyStored, HeldUnitRefused, StorageError."""
        held, self._held = self._held, None
        if held is not None:
            try:
                await self._commit_with_answer(answer, held)
            except (Conflict, Stale) as error:
                raise self._refused(error) from error
        self.is_stored = True
        later, self._later = self._later, []
        for step in later:
            await step()

    def drop(self) -> None:
        """Discards the held unit and the registered functions, because the work is repeated or has
        failed."""
        self._held, later, self._later = None, self._later, []
        for step in later:
            if isinstance(step, _BackgroundTask):
                # A coroutine that is never awaited would leave a warning.
                step.work.close()

    def _refused(self, error: StorageError) -> HeldUnitRefused:
        """The error that ends the work when the held unit is refused. The next commit raises the
        cause, unless earlier units are stored by now."""
        if not self._has_flushed:
            self._failures.append(error)
        return HeldUnitRefused()

    async def _commit_with_answer(self, answer: bytes, writes: Sequence[Write]) -> None:
        answer_writes = self._answer_writes(answer)
        try:
            # These writes come first: if another process has done the same work, the conflict is
            # reported for them.
            await self._commit((*answer_writes, *writes))
        except Conflict as conflict:
            if conflict.collection in {write.collection.name for write in answer_writes}:
                raise AlreadyStored from None
            raise
        self.has_answer = True

    async def _commit(self, writes: Sequence[Write]) -> None:
        await commit_confirmed(self._store, *writes)
        # A read before the commit may have filled the caches again with old values.
        self._service.settings_cache.forget()
        if any(write.collection is SIGNING_KEYS for write in writes):
            self._service.keys.forget()

    def _wake(self) -> None:
        async def wake() -> None:
            _call_if_set(self._service.wake_importer)

        if self.is_stored:
            _call_if_set(self._service.wake_importer)
        else:
            self.do_later(wake)


def _call_if_set(wake: Callable[[], None] | None) -> None:
    if wake is not None:
        wake()


class _BackgroundTask:
    """A background task that is started later."""

    def __init__(self, background_tasks: BackgroundTasks, work: Coroutine[Any, Any, None]) -> None:
        self.work = work
        self._background_tasks = background_tasks

    async def __call__(self) -> None:
        self._background_tasks.start(self.work)


class _LaterTasks:
    """Background tasks that are started once the unit is stored."""

    def __init__(self, holding_store: HoldingStore, background_tasks: BackgroundTasks) -> None:
        self._holding_store = holding_store
        self._background_tasks = background_tasks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._background_tasks, name)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._holding_store.is_stored:
            self._background_tasks.start(work)
        else:
            self._holding_store.do_later(_BackgroundTask(self._background_tasks, work))


def storing_directly(service: Service) -> Service:
    """Returns the service with the store under a `HoldingStore`, for units that must be stored
    whether or not the work is.

    They must not be part of the work's effects, because the work may be repeated.
    """
    return service.store.storing_directly if isinstance(service.store, HoldingStore) else service


async def after_commit(service: Service, step: Callable[[], Awaitable[object]]) -> None:
    """Calls `step` after the unit that the caller has committed is stored: immediately, or, if the
    service's store is a `HoldingStore` that still holds the unit, later."""
    if isinstance(service.store, HoldingStore) and not service.store.is_stored:
        service.store.do_later(step)
    else:
        await step()


def _record_after(record: Any, write: Write | None) -> Any:
    """The record as it is after a held write."""
    if write is None or (record is None and isinstance(write, Update)):
        return record
    if isinstance(write, Delete):
        return None
    if isinstance(write, Insert):
        return copy.deepcopy(write.record)
    for path, value in write.set.items():
        record = _with_value(record, path.split("."), copy.deepcopy(value))
    for path, amount in write.increment.items():
        names = path.split(".")
        record = _with_value(record, names, _value_at(record, names) + amount)
    return record


def _with_value(target: Any, names: Sequence[str], value: object) -> Any:
    """The struct or mapping with another value at a path."""
    name, *inner_names = names
    inner = _with_value(_value_at(target, [name]), inner_names, value) if inner_names else value
    if isinstance(target, dict):
        return {**target, name: inner}
    return structs.replace(target, **{name: inner})


def _value_at(target: Any, names: Sequence[str]) -> Any:
    for name in names:
        target = target[name] if isinstance(target, dict) else getattr(target, name)
    return target
