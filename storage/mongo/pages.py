"""Reading records: by id, in pages of declared lists, counted, and all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial, reduce
from typing import Any, Final

from bson import Int64

from storage.base import (
    COUNT_CAP,
    Collection,
    Cursor,
    Key,
    Page,
    R,
    Reader,
    Value,
    Where,
)
from storage.lists import Plan, after_prefix, check_scan, plan, plan_count, plan_each
from storage.mongo import each
from storage.mongo.documents import Document, is_storable, lasting, plain, record, stored_name
from storage.mongo.driver import Driver
from storage.mongo.reads import Documents

SCAN_PAGE: Final = 200
SCAN_STRETCH: Final = 20_000

Fetch = Callable[[Iterable[tuple[str, str]]], Awaitable[Documents]]


class Pages(Reader):
    """The methods of a store that read. They use `session`, or none if it is None; `fetch` reads
    documents by their ids."""

    def __init__(
        self, driver: Driver, now: Callable[[], datetime], fetch: Fetch, session: Any = None
    ) -> None:
        self._driver = driver
        self._now = now
        self._fetch = fetch
        self._session = session

    async def get(self, collection: Collection[R], id: str) -> R | None:
        self._driver.check_opened(collection)
        if not is_storable(id):
            return None
        key = (collection.name, id)
        return record(collection, (await self._fetch((key,))).get(key), self._now())

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        for collection, _ in keys:
            self._driver.check_opened(collection)
        storable_keys = [(collection.name, id) for collection, id in keys if is_storable(id)]
        found = await self._fetch(storable_keys) if storable_keys else {}
        now = self._now()
        return [
            record(collection, found.get((collection.name, id)), now) for collection, id in keys
        ]

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
        self._driver.check_opened(collection)
        planned = plan(collection, where, order, limit)
        filter = _all_of(
            _matching(collection, planned, self._now()), _beyond(planned, descending, after)
        )
        direction = -1 if descending else 1
        sort = [(stored_name(field), direction) for field in planned.fields]
        found = await self._documents(collection, filter, sort=sort, limit=limit + 1)
        return _page(collection, planned, found, limit, self._now())

    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], most: int = 2
    ) -> dict[Value, list[R]]:
        self._driver.check_opened(collection)
        planned = plan_each(collection, field, values, most)
        if not planned.asked:
            return {}
        now = self._now()
        asking = partial(each.documents, self._driver, collection, planned, now, self._session)
        found = await self._driver.reads.read(asking)
        records = (record(collection, document, now) for document in found)
        return planned.answer(known for known in records if known is not None)

    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        self._driver.check_opened(collection)
        filter = _matching(collection, plan_count(collection, where), self._now())
        count = self._driver.collection(collection.name).count_documents
        if up_to < 1:
            return 0
        return await self._driver.reads.read(
            lambda: count(filter, limit=up_to, session=self._session)
        )

    async def scan(
        self, collection: Collection[R], where: Mapping[str, Value] | None = None
    ) -> AsyncIterator[R]:
        """Yields every matching record, in the order of ids.

        With `where`, the ids are read range by range, so that no command takes long.
        """
        self._driver.check_opened(collection)
        matching = _equal(check_scan(collection, where))
        last: str | None = ""
        while last is not None:
            until = await self._stretch_end(collection, last) if matching else None
            async for found in self._between(collection, matching, last, until):
                yield found
            last = until

    async def _stretch_end(self, collection: Collection[Any], after: str) -> str | None:
        ids = await self._documents(
            collection,
            {"_id": {"$gt": after}},
            projection={"_id": 1},
            sort=[("_id", 1)],
            skip=SCAN_STRETCH - 1,
            limit=1,
        )
        return ids[0]["_id"] if ids else None

    async def _between(
        self, collection: Collection[R], matching: Document, after: str, until: str | None
    ) -> AsyncIterator[R]:
        upper = {} if until is None else {"$lte": until}
        while True:
            ids = {"_id": {"$gt": after, **upper}}
            filter = _all_of(ids, matching, lasting(collection, self._now()))
            # A negative limit requests a single reply: 16 MB at most, so perhaps fewer records.
            page = await self._documents(collection, filter, sort=[("_id", 1)], limit=-SCAN_PAGE)
            if not page:
                return
            for document in page:
                found = record(collection, document, self._now())
                if found is not None:
                    yield found
            after = page[-1]["_id"]

    async def _documents(
        self, collection: Collection[Any], filter: Document, *, limit: int, **options: Any
    ) -> list[Document]:
        options |= {"limit": limit, "batch_size": abs(limit), "session": self._session}
        asking = partial(self._driver.find, collection.name, filter, **options)
        return await self._driver.reads.read(asking)


def _matching(collection: Collection[Any], planned: Plan, now: datetime) -> Document:
    equal = _equal(planned.equal)
    prefix = {}
    if planned.prefix is not None and planned.order is not None:
        prefix = {stored_name(planned.order): _prefix_range(planned.prefix)}
    return _all_of(equal, prefix, lasting(collection, now))


def _equal(where: Mapping[str, Any]) -> Document:
    return {stored_name(path): value for path, value in where.items()}


def _prefix_range(prefix: str) -> Document:
    """Returns the texts with this prefix as a range of the index, which is in the order of code
    points.
    """
    bounds = {"$gte": plain(prefix)}
    end = after_prefix(prefix)
    if end:
        bounds["$lt"] = end
    return bounds


def _beyond(planned: Plan, descending: bool, after: Cursor | None) -> Document:
    """Returns the filter of the records after the cursor."""
    if after is None:
        return {}
    compare = "$lt" if descending else "$gt"
    value, id = plain(after[0]), plain(after[1])
    fields = [stored_name(field) for field in planned.fields]
    if fields == ["_id"]:
        return {"_id": {compare: id}}
    if planned.is_unique:
        return {fields[0]: {compare: value}}
    # The first clause bounds the index; with the others alone the list would be read from its
    # start.
    return {
        fields[0]: {f"{compare}e": value},
        "$or": [{fields[0]: {compare: value}}, {"_id": {compare: id}}],
    }


def _page(
    collection: Collection[R], planned: Plan, found: list[Document], limit: int, now: datetime
) -> Page[R]:
    # The server has excluded expired records; one that has expired since is left out here.
    lasting_ones = [record(collection, document, now) for document in found[:limit]]
    records = [each for each in lasting_ones if each is not None]
    if len(found) <= limit:
        return Page(records)
    last = found[limit - 1]
    value = last["_id"]
    if planned.order is not None:
        value = reduce(Document.__getitem__, stored_name(planned.order).split("."), last)
    if isinstance(value, Int64):
        value = int(value)
    return Page(records, (value, last["_id"]))


def _all_of(*clauses: Document) -> Document:
    """Returns the filter that holds when all of these do; they may name the same field."""
    needed = [clause for clause in clauses if clause]
    return needed[0] if len(needed) == 1 else {"$and": needed} if needed else {}
