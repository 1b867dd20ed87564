"""Records that one request has read together, so that none is read twice for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from idp.policies import effective
from idp.records import LoginRules
from idp.service import Service
from storage import Collection, Key
from storage.base import Record

R = TypeVar("R", bound=Record)


class KnownRecords:
    """The records that a request has read for its pages, by collection and id.

    It belongs to one request. It is only for the display of pages: the records that decide whether
    a user, a session or a token is valid are read where that is decided.
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
