"""A cache of reads for a part of one request, so that no read is made twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from idp.oauth.sign_in.known_records import KnownRecords
from idp.service import Service
from storage import Collection, Key, Page, Store, Value, Where


class CachedReads:
    """A service whose store makes each `get`, `get_many`, `find` and `find_each` once, and answers
    repeated ones from memory.

    It is for a part of one request in which answers of this age may be used. Its creator decides
    that. All other calls go to the service's own store.
    """

    def __init__(self, service: Service) -> None:
        self._own_service = service
        self._records = KnownRecords()
        self._answers: dict[tuple[Any, ...], Any] = {}
        self.service = replace(service, store=cast(Store, self))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own_service.store, name)

    async def get(self, collection: Collection[Any], id: str) -> Any:  # noqa: A002 - the contract
        (record,) = await self.get_many([(collection, id)])
        return record

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        return await self._records.get_many(self._own_service, keys)

    async def find(
        self, collection: Collection[Any], where: Where | None = None, **options: Any
    ) -> Page[Any]:
        query = (
            "find",
            collection.name,
            tuple(sorted((where or {}).items())),
            tuple(sorted(options.items())),
        )
        if query not in self._answers:
            self._answers[query] = await self._own_service.store.find(collection, where, **options)
        page: Page[Any] = self._answers[query]
        return Page(list(page.records), page.after)

    async def find_each(
        self, collection: Collection[Any], field: str, values: Sequence[Value], limit: int = 2
    ) -> dict[Value, list[Any]]:
        query = ("find_each", collection.name, field, tuple(values), limit)
        if query not in self._answers:
            answer = await self._own_service.store.find_each(collection, field, values, limit)
            self._answers[query] = answer
        return {value: list(records) for value, records in self._answers[query].items()}
