"""Searches: `POST …/_search` with filters, returned in pages, with a total.

A record is found if it passes every `Filter`. `find` chooses the declared index that answers most
of the filters; the others are applied to the records it reads. The number of records that one
request reads this way is bounded, so a page may be short or even empty and still have a cursor for
the next one. A page is ordered by the chosen index, so the same filters always give the same
order; a search across several organizations returns one organization after the other.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Struct, structs

from idp.foundation import base64url
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.management.call import Call
from idp.schema.answers import Answer
from idp.schema.field_rules import FieldRefused, Integer, OneOf, Schema, Text
from idp.schema.reading import Request
from idp.search.query_planner import Filter, ReadPlan, read_plans
from idp.service import Service
from storage import COUNT_CAP, Collection, Cursor, Record

MAX_LIMIT: Final = 1000
MAX_RECORDS_READ: Final = 1000  # records that one request reads, however many it finds
MAX_FILTERS: Final = 20
BATCH_SIZE: Final = 251  # SQLite reads on the event loop, which must be free for other requests
_EMPTY_READ_COST: Final = 10  # the cost of a read that finds nothing, in records
_MAX_CURSOR: Final = 8000
_MAC_BYTES: Final = 16
_MAX_COUNTED: Final = 20  # organizations; across more of them the total is a lower bound

R = TypeVar("R", bound=Record)

_METHODS: Final = ("EQUALS", "EQUALS_IGNORE_CASE", "STARTS_WITH", "STARTS_WITH_IGNORE_CASE")
_UNSUPPORTED_METHODS: Final = (
    "CONTAINS",
    "CONTAINS_IGNORE_CASE",
    "ENDS_WITH",
    "ENDS_WITH_IGNORE_CASE",
)
_PREFIX: Final = "TEXT_QUERY_METHOD_"
_METHOD: Final = OneOf(
    tuple(_PREFIX + name for name in _METHODS),
    not_yet=tuple(_PREFIX + name for name in _UNSUPPORTED_METHODS),
    error_code="query.method_unsupported",
)


class NoOffset(Struct, frozen=True):
    """The rule (`field_rules.Rule`) of the field `offset`, which must be 0: a page is requested by
    the cursor of the page before it."""

    def read(self, value: object) -> int:
        if Integer().read(value) != 0:
            message = "is not supported: send the nextCursor of the last answer as query.cursor"
            raise FieldRefused("query.offset_unsupported", message)
        return 0

    def schema(self) -> Schema:
        return {"const": 0, "description": "Send the cursor instead."}


class PageQuery(Request, frozen=True, kw_only=True):
    """The requested page of the results."""

    limit: Annotated[int, Integer(1, MAX_LIMIT)] = 100
    asc: bool = True
    cursor: Annotated[str, Text(max=_MAX_CURSOR)] = ""
    offset: Annotated[int, NoOffset()] = 0


class Search(Request, frozen=True, kw_only=True):
    """The base of every search. Subclasses add `queries`, and `sorting_column` where it is
    supported.
    """

    query: PageQuery = PageQuery()


class TextQuery(Request, frozen=True, kw_only=True):
    """The base of a filter by a text; the subclass adds the field that holds the text."""

    method: Annotated[str, _METHOD] = "TEXT_QUERY_METHOD_EQUALS"

    def of(self, path: str, text: str, key: str | None = None) -> Filter:
        """Returns the condition that the field of a record at `path` matches `text`, by the
        `method` of the query.

        `key` is the path of the field that holds the same text in folded form (`text_folding`),
        or None if there is no such field.
        """
        is_prefix = "STARTS_WITH" in self.method
        return Filter(
            path=path,
            value=text,
            how="starts" if is_prefix else "is",
            is_text=True,
            folds=self.method.endswith("_IGNORE_CASE"),
            key=key,
        )


class SearchDetails(Answer, frozen=True, kw_only=True):
    """The number of records found, a 64-bit integer. With `is_total_lower_bound` there may be
    more: at most 10,000 are counted, and some records may not have been compared yet.
    """

    total_result: str
    is_total_lower_bound: bool = False
    view_timestamp: datetime


class FoundPage(Struct, Generic[R], frozen=True):
    """A page of the records that a search found. `details` has the number of all records found;
    `next_cursor` is the cursor of the next page, empty on the last page."""

    records: list[R]
    details: SearchDetails
    next_cursor: str


def reachable_organizations(call: Call) -> tuple[str, ...] | None:
    """Returns the ids of the organizations that a search of this call covers, or None for all."""
    if call.org_id is not None:
        return (call.org_id,)
    if call.permission in call.rights.everywhere:
        return None
    organizations = call.rights.by_organization
    return tuple(
        sorted(org_id for org_id in organizations if call.rights.allow(call.permission, org_id))
    )


async def find(
    service: Service,
    collection: Collection[R],
    query: PageQuery,
    filters: Sequence[Filter],
    *,
    organizations: Sequence[str] | None = None,
    org_path: str = "org_id",
    order: str | None = None,
    weight: Callable[[R], int] = lambda _: 1,
    batch_size: int = BATCH_SIZE,
    is_counted: bool = True,
) -> FoundPage[R]:
    """Returns the page that `query` requests of the records that pass every filter and belong to
    one of these organizations (None: to any).

    `org_path` is the field with the organization's id. `order` names a field of a declared index
    that orders the records within each organization. Where records are large, `weight` returns how
    many ordinary records one counts as, and `batch_size` is how many are read at a time. Unless
    the search `is_counted`, its total is only a lower bound. Raises InvalidArgument for the cursor
    of another search.
    """
    plans = read_plans(collection, filters, organizations, org_path, order)
    # The cursor is bound to the search: a position in the results of one is invalid in another.
    description = msgspec.msgpack.encode(
        (collection.name, query.asc, order, organizations, list(filters))
    )
    start = _FIRST_PAGE
    if query.cursor:
        start = _read_cursor(service, description, query.cursor)
    source = _Source(service, collection, plans, query, weight, batch_size)
    page = await _page(source, start)
    total, is_lower_bound = page.earlier_count + len(page.records), True
    if is_counted:
        total, is_lower_bound = await _total(service, collection, plans, page, start)
    return FoundPage(
        records=page.records,
        details=SearchDetails(
            total_result=str(total),
            is_total_lower_bound=is_lower_bound,
            view_timestamp=service.clock.now(),
        ),
        next_cursor=_cursor(service, description, page.next_start, total)
        if page.next_start
        else "",
    )


class _PageStart(Struct, frozen=True, array_like=True):
    """The position at which a page begins: the number `n` of the read plan, the record before it,
    how many records earlier pages had, and the total when the search began."""

    n: int
    after: tuple[Any, str] | None
    earlier_count: int
    total: int = 0


_FIRST_PAGE: Final = _PageStart(n=0, after=None, earlier_count=0)


class _Page(Struct, Generic[R]):
    """The records of a page, with `earlier_count` records on earlier pages. `next_start` is where
    the next page begins, or None on the last one."""

    records: list[R]
    earlier_count: int
    next_start: _PageStart | None = None

    def ends_at(self, n: int, after: Cursor | None) -> _Page[R]:
        """Sets where the next page begins (after the record at `after` in the read plan `n`), and
        returns the page."""
        self.next_start = _PageStart(n, after, self.earlier_count + len(self.records))
        return self


class _Source(NamedTuple, Generic[R]):
    service: Service
    collection: Collection[R]
    plans: Sequence[ReadPlan]
    query: PageQuery
    weight: Callable[[R], int]
    batch_size: int


async def _page(source: _Source[R], start: _PageStart) -> _Page[R]:
    page = _Page[R]([], earlier_count=start.earlier_count)
    n, after, records_read = start.n, start.after, 0
    async for plan, record in _each(source, start):
        if records_read >= MAX_RECORDS_READ:
            return page.ends_at(n, after)
        if record is None:
            n, after, records_read = n + 1, None, records_read + _EMPTY_READ_COST
            continue
        if plan.passes(record):
            if len(page.records) == source.query.limit:
                return page.ends_at(n, after)
            page.records.append(record)
        after, records_read = plan.cursor(record), records_read + source.weight(record)
    return page


async def _each(source: _Source[R], start: _PageStart) -> AsyncIterator[tuple[ReadPlan, R | None]]:
    """Yields every record from this position on with its read plan, and None at the end of each
    plan."""
    after = start.after
    for plan in source.plans[start.n :]:
        # With filters left to apply, it is unknown how many records fill the page. Otherwise one
        # more than the page holds shows whether there is another page.
        size = (
            source.batch_size
            if plan.remaining_filters
            else min(source.query.limit + 1, source.batch_size)
        )
        has_more = True
        while has_more:
            records, has_more = await _read(source, plan, size, after)
            for record in records:
                yield plan, record
            after = plan.cursor(records[-1]) if records else after
            await asyncio.sleep(0)  # lets other requests run between two reads
        yield plan, None
        after = None


async def _read(
    source: _Source[R], plan: ReadPlan, size: int, after: Cursor | None
) -> tuple[list[R], bool]:
    """Returns the next records of a read plan, and whether there are more."""
    service, collection, asc = source.service, source.collection, source.query.asc
    if plan.ids is None:
        page = await service.store.find(
            collection,
            plan.where,
            order=plan.order,
            descending=not asc,
            limit=size,
            after=after,
        )
        return page.records, page.after is not None
    ids = sorted(plan.ids, reverse=not asc)
    if after is not None:
        ids = [
            record_id
            for record_id in ids
            if (record_id > after[1] if asc else record_id < after[1])
        ]
    records = await service.store.get_many([(collection, record_id) for record_id in ids])
    return [record for record in records if record is not None], False


async def _total(
    service: Service,
    collection: Collection[R],
    plans: Sequence[ReadPlan],
    page: _Page[R],
    start: _PageStart,
) -> tuple[int, bool]:
    """Returns how many records the search finds, and whether there may be more than that."""
    found_count = page.earlier_count + len(page.records)
    if page.next_start is None:
        return found_count, False
    # The store cannot count the records that a filter excludes after they are read.
    if (
        any(plan.remaining_filters or plan.ids is not None for plan in plans)
        or len(plans) > _MAX_COUNTED
    ):
        return found_count, True
    if start != _FIRST_PAGE:  # counted for the first page; the cursor carries the number
        return start.total, start.total >= COUNT_CAP
    total = 0
    for plan in plans:
        total += await service.store.count(collection, plan.where, up_to=COUNT_CAP - total)
        if total >= COUNT_CAP:
            return COUNT_CAP, True
    return total, False


def _cursor(service: Service, description: bytes, start: _PageStart, total: int) -> str:
    data = msgspec.msgpack.encode(structs.replace(start, total=total))
    return base64url.encode(_mac(service, description, data) + data)


def _read_cursor(service: Service, description: bytes, cursor: str) -> _PageStart:
    """Returns the position that a cursor contains.

    Raises InvalidArgument unless the cursor was issued for this search.
    """
    try:
        data = base64url.decode(cursor)
    except ValueError:
        data = b""
    mac, start = data[:_MAC_BYTES], data[_MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(service, description, start)):
        message = "is not a cursor of this search: filters and order must be the same"
        raise InvalidArgument([FieldProblem("query.cursor", "query.cursor", message)])
    return msgspec.msgpack.decode(start, type=_PageStart)


def _mac(service: Service, description: bytes, start: bytes) -> bytes:
    # The length separates the two parts: no other search and position result in the same bytes.
    length = len(description).to_bytes(8, "big")
    return service.master_key.mac("cursor", length + description + start)[:_MAC_BYTES]
