"""A store whose calls are observed (`storage/observer.py`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Any, TypeVar

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
from storage.following import Follow, Records
from storage.observer import Kind, Observer, running_call

T = TypeVar("T")


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

    @property
    def failed_at(self) -> float:  # type: ignore[override]
        return self._store.failed_at

    async def _observed(self, kind: Kind, method: str, work: Awaitable[T]) -> T:
        call = self._observer.began(kind, method)
        token = running_call.set(call)
        try:
            result = await work
        except BaseException as error:
            self._observer.ended(call, error)
            raise
        finally:
            running_call.reset(token)
        self._observer.ended(call, None)
        return result

    async def open(
        self, collections: Sequence[Collection[Any]], schema: Schema | None = FIRST_SCHEMA
    ) -> None:
        await self._store.open(collections, schema)

    async def close(self) -> None:
        await self._store.close()

    async def get(self, collection: Collection[R], id: str) -> R | None:
        return await self._observed("read", "get", self._store.get(collection, id))

    async def get_confirmed(self, collection: Collection[R], record_id: str) -> R | None:
        work = self._store.get_confirmed(collection, record_id)
        return await self._observed("read", "get_confirmed", work)

    def read_point(self) -> object:
        return self._store.read_point()

    async def confirm(self, point: object) -> None:
        await self._observed("read", "confirm", self._store.confirm(point))

    async def get_many(self, keys: Sequence[tuple[Collection[Any], str]]) -> list[Any]:
        return await self._observed("read", "get_many", self._store.get_many(keys))

    async def get_following(
        self, keys: Sequence[tuple[Collection[Any], str]], follow: Sequence[Follow]
    ) -> Records:
        work = self._store.get_following(keys, follow)
        return await self._observed("read", "get_following", work)

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
        self, collection: Collection[R], field: str, values: Sequence[Value], limit: int = 2
    ) -> dict[Value, list[R]]:
        work = self._store.find_each(collection, field, values, limit)
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

    def prepare(self, writes: Sequence[Write]) -> Sequence[Write]:
        return self._store.prepare(writes)

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

    async def count_overdue(self, *, up_to: int) -> int:
        return await self._store.count_overdue(up_to=up_to)

    @property
    def is_sharded(self) -> bool:  # type: ignore[override]
        return self._store.is_sharded

    async def missing_indexes(self, collections: Sequence[Any]) -> list[str]:
        return await self._store.missing_indexes(collections)

    async def file_state(self) -> FileState | None:
        return await self._store.file_state()

    async def find_damage(self, up_to: int) -> list[str]:
        return await self._store.find_damage(up_to)

    async def server_state(self) -> ServerState | None:
        return await self._store.server_state()

    async def rolls_back(self) -> bool:
        return await self._store.rolls_back()

    async def engine_version(self) -> str:
        return await self._store.engine_version()
