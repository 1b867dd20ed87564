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
from storage.lists import EachPlan, Plan, plan, plan_count, plan_each, value_at

_SHADOWS_PER_PAGE: Final = 500
_SCANNED_PER_BATCH: Final = 16
_LIMIT_GROWTH: Final = 8


class Shadow(Record):
    """Marks a record of the lower store as hidden: the upper store has copied it, and may have
    changed or removed it since.
    """

    collection: str
    record_id: str


SHADOWS: Final = Collection("shadows", Shadow, lists=(("collection", "record_id"),))


def shadow(collection: Collection[Any], record_id: str) -> Shadow:
    return Shadow(
        id=_shadow_id(collection, record_id), collection=collection.name, record_id=record_id
    )


def _shadow_id(collection: Collection[Any], record_id: str) -> str:
    text = f"{collection.name}/{record_id}"
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
        upper_records = await self._upper.get_many(keys)
        indexes = [index for index, record in enumerate(upper_records) if record is None]
        unshadowed = await self._have_no_shadow([keys[index] for index in indexes])
        lower_indexes = [
            index
            for index, is_unshadowed in zip(indexes, unshadowed, strict=True)
            if is_unshadowed
        ]
        if lower_indexes:
            records = await self._lower.get_many([keys[index] for index in lower_indexes])
            for index, record in zip(lower_indexes, records, strict=True):
                upper_records[index] = record
        return upper_records

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
        upper_records = (await self._upper.find(collection, after=after, **query)).records
        lower_records = await self._find_lower(collection, after, query)
        merged = heapq.merge(upper_records, lower_records, key=planned.cursor, reverse=descending)
        return planned.page(list(merged), limit)

    async def _find_lower(
        self, collection: Collection[R], after: Cursor | None, query: dict[str, Any]
    ) -> list[R]:
        """Returns as many visible records of the lower store as are requested, or all that
        exist."""
        records: list[R] = []
        while len(records) < query["limit"]:
            page = await self._lower.find(collection, after=after, **query)
            records += await self._visible(collection, page.records)
            after = page.after
            if after is None:
                break
        return records

    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], limit: int = 2
    ) -> dict[Value, list[R]]:
        planned = plan_each(collection, field, values, limit)
        upper_records = await self._upper.find_each(collection, field, values, limit)
        for value, lower_records in (
            await self._find_each_lower(collection, planned, values)
        ).items():
            upper_values = upper_records.get(value, [])
            upper_records[value] = sorted([*upper_values, *lower_records], key=planned.sort_key)[
                :limit
            ]
        return upper_records

    async def _find_each_lower(
        self, collection: Collection[R], planned: EachPlan, values: Sequence[Value]
    ) -> dict[Value, list[R]]:
        """Returns the visible records of the lower store. For values with hidden records, the
        query is repeated with a higher limit."""
        visible: dict[Value, list[R]] = {}
        lower_limit = planned.limit
        while values:
            lower_records = await self._lower.find_each(
                collection, planned.field, values, lower_limit
            )
            all_lower = [record for records in lower_records.values() for record in records]
            visible_ids = {record.id for record in await self._visible(collection, all_lower)}
            for value, records in lower_records.items():
                visible[value] = [record for record in records if record.id in visible_ids]
            values = [
                value
                for value, records in lower_records.items()
                if len(visible[value]) < planned.limit and len(records) == lower_limit
            ]
            lower_limit *= _LIMIT_GROWTH
        return {value: records for value, records in visible.items() if records}

    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        planned = plan_count(collection, where)
        shadowed_count = await self._count_shadowed(collection, planned) if up_to > 0 else 0
        upper_count = await self._upper.count(collection, where, up_to=up_to)
        lower_count = await self._lower.count(collection, where, up_to=up_to + shadowed_count)
        return min(upper_count + lower_count - shadowed_count, max(up_to, 0))

    async def _count_shadowed(self, collection: Collection[Any], planned: Plan) -> int:
        """Returns the number of matching lower records that have a shadow."""
        shadowed_count = 0
        after: Cursor | None = None
        while collection.name in self._shadowed:
            page = await self._upper.find(
                SHADOWS,
                {"collection": collection.name},
                order="record_id",
                limit=_SHADOWS_PER_PAGE,
                after=after,
            )
            keys = [(collection, found_shadow.record_id) for found_shadow in page.records]
            records = await self._lower.get_many(keys)
            shadowed_count += sum(
                record is not None and _matches(record, planned) for record in records
            )
            after = page.after
            if after is None:
                break
        return shadowed_count

    async def scan(
        self, collection: Collection[R], where: Mapping[str, Value] | None = None
    ) -> AsyncIterator[R]:
        upper_records = self._upper.scan(collection, where)
        next_upper = await anext(upper_records, None)
        async for record in self._scan_lower(collection, where):
            while next_upper is not None and next_upper.id < record.id:
                yield next_upper
                next_upper = await anext(upper_records, None)
            yield record
        while next_upper is not None:
            yield next_upper
            next_upper = await anext(upper_records, None)

    async def _scan_lower(
        self, collection: Collection[R], where: Mapping[str, Value] | None
    ) -> AsyncIterator[R]:
        batch: list[R] = []
        async for record in self._lower.scan(collection, where):
            batch.append(record)
            if len(batch) == _SCANNED_PER_BATCH:
                for visible_record in await self._visible(collection, batch):
                    yield visible_record
                batch = []
        for visible_record in await self._visible(collection, batch):
            yield visible_record

    async def _visible(self, collection: Collection[R], records: Sequence[R]) -> list[R]:
        """Returns the records of the lower store that the upper one does not hide."""
        keys = [(collection, record.id) for record in records]
        unshadowed = await self._have_no_shadow(keys)
        upper_records = await self._upper.get_many(keys)
        checked = zip(records, unshadowed, upper_records, strict=True)
        return [
            record
            for record, is_unshadowed, upper_record in checked
            if is_unshadowed and upper_record is None
        ]

    async def _have_no_shadow(self, keys: Sequence[Key]) -> list[bool]:
        """Returns for each key whether it has no shadow."""
        shadow_keys = [
            (SHADOWS, _shadow_id(collection, record_id))
            for collection, record_id in keys
            if collection.name in self._shadowed
        ]
        if not shadow_keys:
            return [True] * len(keys)
        shadows = iter(await self._upper.get_many(shadow_keys))
        return [
            collection.name not in self._shadowed or next(shadows) is None
            for collection, _ in keys
        ]


def _matches(record: Record, planned: Plan) -> bool:
    if planned.prefix is not None and planned.order is not None:
        text = value_at(record, planned.order)
        if not isinstance(text, str) or not text.startswith(planned.prefix):
            return False
    return all(value_at(record, path) == value for path, value in planned.equal.items())
