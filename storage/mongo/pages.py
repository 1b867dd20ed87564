"""Reading of records: by id, by pages of declared lists, as counts, and all of them."""

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
from storage.following import Follow, Records, name_of, named_by, read_sequentially
from storage.lists import EachPlan, Plan, after_prefix, check_scan, plan, plan_count, plan_each
from storage.mongo import many_values
from storage.mongo.documents import (
    Document,
    is_storable,
    record,
    stored_name,
    stored_value,
    unexpired_filter,
)
from storage.mongo.driver import Driver
from storage.mongo.reads import Documents, Link, Selection, SharedReads

SCAN_PAGE: Final = 200
SCAN_RANGE: Final = 20_000
MAX_SHARED_DOCUMENTS: Final = 64  # documents: a query that can find more is a command of its own

Fetch = Callable[[Iterable[tuple[str, str]]], Awaitable[Documents]]


class Pages(Reader):
    """The methods of a store that read. They use `session`, or none if it is None; `fetch` reads
    documents by their ids. Small queries join the commands of `shared`, if that is given."""

    def __init__(
        self,
        driver: Driver,
        now: Callable[[], datetime],
        fetch: Fetch,
        session: Any = None,
        shared: SharedReads | None = None,
    ) -> None:
        self._driver = driver
        self._now = now
        self._fetch = fetch
        self._session = session
        self._shared = shared if driver.shares_commands else None

    async def get(self, collection: Collection[R], id: str) -> R | None:
        self._driver.check_opened(collection)
        if not is_storable(id):
            return None
        key = (collection.name, id)
        return record(collection, (await self._fetch((key,))).get(key), self._now())

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        for collection, _ in keys:
            self._driver.check_opened(collection)
        storable_keys = [
            (collection.name, record_id)
            for collection, record_id in keys
            if is_storable(record_id)
        ]
        documents = await self._fetch(storable_keys) if storable_keys else {}
        now = self._now()
        return [
            record(collection, documents.get((collection.name, record_id)), now)
            for collection, record_id in keys
        ]

    async def get_following(self, keys: Sequence[Key], follow: Sequence[Follow]) -> Records:
        if self._shared is None:
            return await read_sequentially(self, keys, follow)
        links: dict[str, tuple[Link, ...]] = {}
        for rule in follow:
            self._driver.check_opened(rule.to)
            link = (stored_name(rule.field), rule.to.name)
            name = rule.collection.name
            links[name] = (*links.get(name, ()), link)
        for collection, _ in keys:
            self._driver.check_opened(collection)
        storable_keys = [name_of(key) for key in keys if is_storable(key[1])]
        documents = await self._shared.fetch_linked(storable_keys, links) if storable_keys else {}
        now = self._now()
        records = [
            record(collection, documents.get(name_of((collection, record_id))), now)
            for collection, record_id in keys
        ]
        collections_by_name = {name_of(key): key[0] for key in named_by(keys, records, follow)}
        followed = {
            name: record(target, documents.get(name), now)
            for name, target in collections_by_name.items()
        }
        return Records(followed).with_more(Records.read(keys, records))

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
        conditions = _all_of(
            _matching(collection, planned, self._now()), _after_cursor(planned, descending, after)
        )
        direction = -1 if descending else 1
        sort = [(stored_name(field), direction) for field in planned.fields]
        if self._shared and limit < MAX_SHARED_DOCUMENTS and not (after or planned.narrowed):
            selection = Selection(collection.name, conditions, sort, limit + 1)
            documents = await self._shared.select(selection)
        else:
            documents = await self._documents(collection, conditions, sort=sort, limit=limit + 1)
        return _page(collection, planned, documents, limit, self._now())

    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], limit: int = 2
    ) -> dict[Value, list[R]]:
        self._driver.check_opened(collection)
        planned = plan_each(collection, field, values, limit)
        if not planned.requested:
            return {}
        now = self._now()
        documents = await self._documents_of_each(collection, planned, now)
        records = (record(collection, document, now) for document in documents)
        return planned.answer(
            matching_record for matching_record in records if matching_record is not None
        )

    async def _documents_of_each(
        self, collection: Collection[Any], planned: EachPlan, now: datetime
    ) -> list[Document]:
        """Returns the documents of the plan. Those of a few values share their command with other
        reads."""
        selection = many_values.selection(collection, planned, now)
        if self._shared is None or selection.limit > MAX_SHARED_DOCUMENTS:
            find_documents = partial(
                many_values.documents, self._driver, collection, planned, now, self._session
            )
            return await self._driver.reads.read(find_documents)
        documents = await self._shared.select(selection)
        if len(documents) < selection.limit:
            return many_values.limited_documents(planned, documents)
        read_next = partial(
            many_values.complete_documents,
            self._driver,
            collection,
            planned,
            documents,
            now,
            self._session,
        )
        return await self._driver.reads.read(read_next)

    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        self._driver.check_opened(collection)
        conditions = _matching(collection, plan_count(collection, where), self._now())
        count = self._driver.collection(collection.name).count_documents
        if up_to < 1:
            return 0
        return await self._driver.reads.read(
            lambda: count(conditions, limit=up_to, session=self._session)
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
            until = await self._range_end(collection, last) if matching else None
            async for found_record in self._between(collection, matching, last, until):
                yield found_record
            last = until

    async def _range_end(self, collection: Collection[Any], after: str) -> str | None:
        ids = await self._documents(
            collection,
            {"_id": {"$gt": after}},
            projection={"_id": 1},
            sort=[("_id", 1)],
            skip=SCAN_RANGE - 1,
            limit=1,
        )
        return ids[0]["_id"] if ids else None

    async def _between(
        self, collection: Collection[R], matching: Document, after: str, until: str | None
    ) -> AsyncIterator[R]:
        upper = {} if until is None else {"$lte": until}
        while True:
            ids = {"_id": {"$gt": after, **upper}}
            conditions = _all_of(ids, matching, unexpired_filter(collection, self._now()))
            # A negative limit requests a single reply: 16 MB at most, so possibly fewer records.
            page = await self._documents(
                collection, conditions, sort=[("_id", 1)], limit=-SCAN_PAGE
            )
            if not page:
                return
            for document in page:
                stored = record(collection, document, self._now())
                if stored is not None:
                    yield stored
            after = page[-1]["_id"]

    async def _documents(
        self, collection: Collection[Any], conditions: Document, *, limit: int, **options: Any
    ) -> list[Document]:
        options |= {"limit": limit, "batch_size": abs(limit), "session": self._session}
        find_documents = partial(self._driver.find, collection.name, conditions, **options)
        return await self._driver.reads.read(find_documents)


def _matching(collection: Collection[Any], planned: Plan, now: datetime) -> Document:
    equal = _equal(planned.equal)
    prefix = {}
    if planned.prefix is not None and planned.order is not None:
        prefix = {stored_name(planned.order): _prefix_range(planned.prefix)}
    return _all_of(equal, prefix, unexpired_filter(collection, now))


def _equal(where: Mapping[str, Any]) -> Document:
    return {stored_name(path): value for path, value in where.items()}


def _prefix_range(prefix: str) -> Document:
    """Returns the texts with this prefix as a range of the index, which is in the order of code
    points.
    """
    bounds = {"$gte": stored_value(prefix)}
    end = after_prefix(prefix)
    if end:
        bounds["$lt"] = end
    return bounds


def _after_cursor(planned: Plan, descending: bool, after: Cursor | None) -> Document:
    """Returns the filter of the records after the cursor."""
    if after is None:
        return {}
    compare = "$lt" if descending else "$gt"
    value, record_id = stored_value(after[0]), stored_value(after[1])
    fields = [stored_name(field) for field in planned.fields]
    if fields == ["_id"]:
        return {"_id": {compare: record_id}}
    if planned.is_unique:
        return {fields[0]: {compare: value}}
    # The first clause bounds the index; without it the list would be read from its start.
    return {
        fields[0]: {f"{compare}e": value},
        "$or": [{fields[0]: {compare: value}}, {"_id": {compare: record_id}}],
    }


def _page(
    collection: Collection[R], planned: Plan, documents: list[Document], limit: int, now: datetime
) -> Page[R]:
    # The server has excluded expired records; one that has expired since is left out here.
    unexpired = [record(collection, document, now) for document in documents[:limit]]
    records = [unexpired_record for unexpired_record in unexpired if unexpired_record is not None]
    if len(documents) <= limit:
        return Page(records)
    last = documents[limit - 1]
    value = last["_id"]
    if planned.order is not None:
        value = reduce(Document.__getitem__, stored_name(planned.order).split("."), last)
    if isinstance(value, Int64):
        value = int(value)
    return Page(records, (value, last["_id"]))


def _all_of(*clauses: Document) -> Document:
    """Returns the filter that is true if all of these are; they may name the same field."""
    non_empty = [clause for clause in clauses if clause]
    return non_empty[0] if len(non_empty) == 1 else {"$and": non_empty} if non_empty else {}
