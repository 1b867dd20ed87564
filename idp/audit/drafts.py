"""Work whose last unit waits until its answer is known, so that both are stored together.

A `HoldingStore` is the store that such work sees. A unit that is committed there is held back, as
if it were stored: the work goes on and answers. Then `stored` commits it, with whatever belongs to
the answer. When the store refuses it (Conflict, Stale), the work is done once more, and its commit
raises what the store said: so the work answers a race as it does without a draft.

What counts whatever becomes of the work, such as a try at a password, is committed to the store
itself: `undrafted`.
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
from storage.settling import commit_settled


class Twin(Exception):
    """What tells of the unit is in the store already: the same work was done elsewhere."""


class HeldUnitRefused(Exception):
    """The store refused the unit that was held: the work is to be done once more."""


class HoldingStore:
    """The store of one piece of work, which holds its last unit back.

    `failures` are what the units of the work were refused with before, in their order: they are
    refused again, and the next one is held. `mark` makes of an answer the writes that tell of it.
    """

    def __init__(
        self,
        service: Service,
        failures: list[StorageError],
        mark: Callable[[bytes], Sequence[Write]],
    ) -> None:
        self._service = service
        self._store = service.store
        self._failures = failures
        self._next_failures = list(failures)
        self._mark = mark
        self._held: tuple[Write, ...] | None = None
        self._later: list[Callable[[], Awaitable[object]]] = []
        self._foretold: bytes | None = None
        self._has_flushed = False
        self.is_stored = False
        self.is_marked = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @property
    def undrafted(self) -> Service:
        """The service over the store itself."""
        return self._service

    def service(self) -> Service:
        """The service as the work is to see it."""
        return replace(
            self._service,
            store=cast(Store, self),
            errands=cast(BackgroundTasks, _LaterTasks(self, self._service.errands)),
            wake_importer=self._wake if self._service.wake_importer else None,
        )

    def foretell(self, answer: bytes) -> None:
        """Give the answer before the first unit, which is then stored at once, with this answer:
        for work of several units that goes on by itself when it is cut off after the first."""
        self._foretold = answer

    def do_later(self, step: Callable[[], Awaitable[object]]) -> None:
        """Have something done once everything is stored."""
        self._later.append(step)

    async def get(self, collection: Collection[Any], id: str) -> Any:
        (found,) = await self.get_many([(collection, id)])
        return found

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        found = await self._store.get_many(keys)
        held = {(write.collection.name, write.id): write for write in self._held or ()}
        return [
            _after(record, held.get((collection.name, id)))
            for record, (collection, id) in zip(found, keys, strict=True)
        ]

    async def commit(self, *writes: Write) -> None:
        """Hold a unit back, once the one before is stored. Raises HeldUnitRefused: that was
        refused."""
        if self.is_stored:
            await self._store.commit(*writes)
        elif self._foretold is not None:
            await self._commit_marked(self._foretold, writes)
            self.is_stored = True
        elif self._next_failures:
            raise self._next_failures.pop(0)
        else:
            await self.flush()
            self._held = writes

    async def commit_each(self, units: Sequence[Sequence[Write]]) -> Any:
        await self.flush()
        return await self._store.commit_each(units)

    async def flush(self) -> None:
        """Store what is held, without an answer. Raises HeldUnitRefused, StorageError."""
        held, self._held = self._held, None
        if held is not None:
            try:
                await self._commit(held)
            except (Conflict, Stale) as error:
                raise self._refused(error) from error
            self._has_flushed = True

    async def stored(self, answer: bytes) -> None:
        """Store what is held together with its answer, then do the rest. Without a unit nothing
        was done that a repetition would do twice. Raises Twin, HeldUnitRefused, StorageError."""
        held, self._held = self._held, None
        if held is not None:
            try:
                await self._commit_marked(answer, held)
            except (Conflict, Stale) as error:
                raise self._refused(error) from error
        self.is_stored = True
        later, self._later = self._later, []
        for step in later:
            await step()

    def drop(self) -> None:
        """Forget what waits: the work is done once more, or has failed."""
        self._held, later, self._later = None, self._later, []
        for step in later:
            if isinstance(step, _BackgroundTask):
                step.work.close()

    def _refused(self, error: StorageError) -> HeldUnitRefused:
        """What ends the work when the held unit is refused: the next time its commit raises this,
        unless units before it are stored by now."""
        if not self._has_flushed:
            self._failures.append(error)
        return HeldUnitRefused()

    async def _commit_marked(self, answer: bytes, writes: Sequence[Write]) -> None:
        marks = self._mark(answer)
        try:
            await self._commit((*marks, *writes))
        except Conflict as conflict:
            if conflict.collection in {mark.collection.name for mark in marks}:
                raise Twin from None
            raise
        self.is_marked = True

    async def _commit(self, writes: Sequence[Write]) -> None:
        await commit_settled(self._store, *writes)
        # What was forgotten before the unit may have been read again since.
        self._service.recent.forget()
        if any(write.collection is SIGNING_KEYS for write in writes):
            self._service.keys.forget()

    def _wake(self) -> None:
        async def wake() -> None:
            _called(self._service.wake_importer)

        if self.is_stored:
            _called(self._service.wake_importer)
        else:
            self.do_later(wake)


def _called(wake: Callable[[], None] | None) -> None:
    if wake is not None:
        wake()


class _BackgroundTask:
    """An errand that is begun later."""

    def __init__(self, errands: BackgroundTasks, work: Coroutine[Any, Any, None]) -> None:
        self.work = work
        self._errands = errands

    async def __call__(self) -> None:
        self._errands.start(self.work)


class _LaterTasks:
    """Errands that are begun once the unit is stored."""

    def __init__(self, draft: HoldingStore, errands: BackgroundTasks) -> None:
        self._draft = draft
        self._errands = errands

    def __getattr__(self, name: str) -> Any:
        return getattr(self._errands, name)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._draft.is_stored:
            self._errands.start(work)
        else:
            self._draft.do_later(_BackgroundTask(self._errands, work))


def undrafted(service: Service) -> Service:
    """The service over the store itself, for units that count whether the work is stored or not.

    They must not be part of what the work does: it may be done once more.
    """
    return service.store.undrafted if isinstance(service.store, HoldingStore) else service


async def afterwards(service: Service, step: Callable[[], Awaitable[object]]) -> None:
    """Do something that follows a unit: at once, or when the unit of a draft is stored."""
    if isinstance(service.store, HoldingStore) and not service.store.is_stored:
        service.store.do_later(step)
    else:
        await step()


def _after(record: Any, write: Write | None) -> Any:
    """A record as it is after a write that is held."""
    if write is None or (record is None and isinstance(write, Update)):
        return record
    if isinstance(write, Delete):
        return None
    if isinstance(write, Insert):
        return copy.deepcopy(write.record)
    for path, value in write.set.items():
        record = _with(record, path.split("."), copy.deepcopy(value))
    for path, by in write.increment.items():
        names = path.split(".")
        record = _with(record, names, _at(record, names) + by)
    return record


def _with(target: Any, names: Sequence[str], value: object) -> Any:
    """A struct or object with another value at a path."""
    name, *rest = names
    inner = _with(_at(target, [name]), rest, value) if rest else value
    if isinstance(target, dict):
        return {**target, name: inner}
    return structs.replace(target, **{name: inner})


def _at(target: Any, names: Sequence[str]) -> Any:
    for name in names:
        target = target[name] if isinstance(target, dict) else getattr(target, name)
    return target
