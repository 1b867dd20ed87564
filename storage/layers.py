"""Two stores read as one: a record of the upper one hides that of the lower one."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from storage.base import (
    COUNT_CAP,
    MAX_ID_CHARACTERS,
    Collection,
    Cursor,
    Key,
    Page,
    R,
    Reader,
    Record,
    Value,
    Where,
)
from storage.lists import EachPlan, Plan, at, plan, plan_count, plan_each

_SHADOWS_AT_ONCE: Final = 500
_SCANNED_AT_ONCE: Final = 16
_SHARE_GROWS: Final = 8


class Shadow(Record):
    """Marks a record of the lower store as hidden: the upper store has copied it, and may have
    changed or removed it since.
    """

    collection: str
    record_id: str


SHADOWS: Final = Collection("shadows", Shadow, lists=(("collection", "record_id"),))


def shadow(collection: Collection[Any], id: str) -> Shadow:
    return Shadow(id=_shadow_id(collection, id), collection=collection.name, record_id=id)


def _shadow_id(collection: Collection[Any], id: str) -> str:
    text = f"{collection.name}/{id}"
    if len(text) <= MAX_ID_CHARACTERS:
        return text
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


class Layers(Reader):
    """Reads two stores as one: a record of `upper` hides the record of `lower` that has the same
    id.

    `shadowed` names the collections of which the upper store has shadows (`Shadow`), each of which
    hides a record of the lower store too; the caller adds names later.
    """

    def __init__(self, lower: Reader, upper: Reader, shadowed: set[str]) -> None:
        self._lower = lower
        self._upper = upper
        self._shadowed = shadowed

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        found = await self._upper.get_many(keys)
        places = [place for place, record in enumerate(found) if record is None]
        unshadowed = await self._have_no_shadow([keys[place] for place in places])
        below = [place for place, has_none in zip(places, unshadowed, strict=True) if has_none]
        if below:
            records = await self._lower.get_many([keys[place] for place in below])
            for place, record in zip(below, records, strict=True):
                found[place] = record
        return found

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
        planned = plan(collection, where, order, limit)
        query: dict[str, Any] = {
            "where": where,
            "order": order,
            "descending": descending,
            "limit": limit + 1,
        }
        above = (await self._upper.find(collection, after=after, **query)).records
        below = await self._found_below(collection, after, query)
        merged = heapq.merge(above, below, key=planned.cursor, reverse=descending)
        return planned.page(list(merged), limit)

    async def _found_below(
        self, collection: Collection[R], after: Cursor | None, query: dict[str, Any]
    ) -> list[R]:
        """Returns as many visible records as are requested, or all that exist."""
        found: list[R] = []
        while len(found) < query["limit"]:
            page = await self._lower.find(collection, after=after, **query)
            found += await self._visible(collection, page.records)
            after = page.after
            if after is None:
                break
        return found

    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], most: int = 2
    ) -> dict[Value, list[R]]:
        planned = plan_each(collection, field, values, most)
        found = await self._upper.find_each(collection, field, values, most)
        for value, below in (await self._each_below(collection, planned, values)).items():
            above = found.get(value, [])
            found[value] = sorted([*above, *below], key=planned.place)[:most]
        return found

    async def _each_below(
        self, collection: Collection[R], planned: EachPlan, values: Sequence[Value]
    ) -> dict[Value, list[R]]:
        """Returns the visible records; for values with hidden ones, more are requested."""
        found: dict[Value, list[R]] = {}
        share = planned.most
        while values:
            given = await self._lower.find_each(collection, planned.field, values, share)
            every = [record for records in given.values() for record in records]
            seen = {record.id for record in await self._visible(collection, every)}
            for value, records in given.items():
                found[value] = [record for record in records if record.id in seen]
            values = [
                value
                for value, records in given.items()
                if len(found[value]) < planned.most and len(records) == share
            ]
            share *= _SHARE_GROWS
        return {value: records for value, records in found.items() if records}

    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        planned = plan_count(collection, where)
        shadowed_below = await self._count_shadowed(collection, planned) if up_to > 0 else 0
        above = await self._upper.count(collection, where, up_to=up_to)
        below = await self._lower.count(collection, where, up_to=up_to + shadowed_below)
        return min(above + below - shadowed_below, max(up_to, 0))

    async def _count_shadowed(self, collection: Collection[Any], planned: Plan) -> int:
        """Returns the number of matching lower records that have a shadow."""
        shadowed_below = 0
        after: Cursor | None = None
        while collection.name in self._shadowed:
            page = await self._upper.find(
                SHADOWS,
                {"collection": collection.name},
                order="record_id",
                limit=_SHADOWS_AT_ONCE,
                after=after,
            )
            keys = [(collection, each.record_id) for each in page.records]
            records = await self._lower.get_many(keys)
            shadowed_below += sum(
                record is not None and _matches(record, planned) for record in records
            )
            after = page.after
            if after is None:
                break
        return shadowed_below

    async def scan(
        self, collection: Collection[R], where: Mapping[str, Value] | None = None
    ) -> AsyncIterator[R]:
        above = self._upper.scan(collection, where)
        ahead = await anext(above, None)
        async for record in self._scanned_below(collection, where):
            while ahead is not None and ahead.id < record.id:
                yield ahead
                ahead = await anext(above, None)
            yield record
        while ahead is not None:
            yield ahead
            ahead = await anext(above, None)

    async def _scanned_below(
        self, collection: Collection[R], where: Mapping[str, Value] | None
    ) -> AsyncIterator[R]:
        waiting: list[R] = []
        async for record in self._lower.scan(collection, where):
            waiting.append(record)
            if len(waiting) == _SCANNED_AT_ONCE:
                for each in await self._visible(collection, waiting):
                    yield each
                waiting = []
        for each in await self._visible(collection, waiting):
            yield each

    async def _visible(self, collection: Collection[R], records: Sequence[R]) -> list[R]:
        """Returns the records of the lower store that the upper one does not hide."""
        keys = [(collection, record.id) for record in records]
        unshadowed = await self._have_no_shadow(keys)
        above = await self._upper.get_many(keys)
        checked = zip(records, unshadowed, above, strict=True)
        return [record for record, has_none, copy in checked if has_none and copy is None]

    async def _have_no_shadow(self, keys: Sequence[Key]) -> list[bool]:
        """Returns for each key whether it has no shadow."""
        asked = [
            (SHADOWS, _shadow_id(collection, id))
            for collection, id in keys
            if collection.name in self._shadowed
        ]
        if not asked:
            return [True] * len(keys)
        shadows = iter(await self._upper.get_many(asked))
        return [
            collection.name not in self._shadowed or next(shadows) is None
            for collection, _ in keys
        ]


def _matches(record: Record, planned: Plan) -> bool:
    if planned.prefix is not None and planned.order is not None:
        text = at(record, planned.order)
        if not isinstance(text, str) or not text.startswith(planned.prefix):
            return False
    return all(at(record, path) == value for path, value in planned.equal.items())
