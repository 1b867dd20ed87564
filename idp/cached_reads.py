"""Records that a request has read, so that none is read twice for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from idp.policies import effective
from idp.records import LoginRules
from idp.service import Service
from storage import Collection, Key, Page, Store, Value, Where
from storage.base import Record
from storage.following import Records

R = TypeVar("R", bound=Record)


class KnownRecords:
    """The records that a request has read for its pages, by collection and id.

    It belongs to one request. Whether a user, a session or a token is valid is not decided by it,
    unless its creator says so: those records are read where that is decided.
    """

    def __init__(self, keys: Sequence[Key] = (), records: Sequence[Any] = ()) -> None:
        self._records = dict(zip(map(_name, keys), records, strict=True))

    def get(self, collection: Collection[R], record_id: str) -> R | None:
        """Returns the record with this id; None if it is absent, or was not read yet."""
        record: R | None = self._records.get((collection.name, record_id))
        return record

    async def get_many(self, service: Service, keys: Sequence[Key]) -> list[Any]:
        """Returns the records in the order of `keys`, None for each absent one. Those that are not
        known yet are read in one round trip."""
        unknown = [key for key in keys if _name(key) not in self._records]
        if unknown:
            records = await service.store.get_many(unknown)
            self._records.update(zip(map(_name, unknown), records, strict=True))
        return [self._records[_name(key)] for key in keys]

    async def login_rules(self, service: Service, org_id: str) -> LoginRules:
        """Returns the effective rules for sign-ins of the organization's users."""
        own, default = await self.get_many(service, effective.keys(org_id, "login"))
        return effective.login_of(service.config, own, default)


def _name(key: Key) -> tuple[str, str]:
    collection, record_id = key
    return collection.name, record_id


class CachedReads:
    """A service whose store makes each `get`, `get_many`, `get_records`, `find` and `find_each`
    once, and answers repeated ones from memory; concurrent ones for the same are both made.

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

    async def get(self, collection: Collection[Any], id: str) -> Any:
        (record,) = await self.get_many([(collection, id)])
        return record

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        return await self._records.get_many(self._own_service, keys)

    async def get_records(self, keys: Sequence[Key]) -> Records:
        return Records.read(keys, await self.get_many(keys))

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
