"""Reads the records that a condition finds: the first thousand for an answer, or all of them page
by page.

The condition and the order must be those of a list that the collection declares
(`Collection.lists`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final, TypeVar

from idp.schema.answers import Answer
from idp.service import Service
from storage import Collection, Reader, Record, Where

MAX_RECORDS: Final = 1000
_MOSTLY_ALL: Final = 50  # few enough to share a command with other reads

R = TypeVar("R", bound=Record)


class ListDetails(Answer, frozen=True, kw_only=True):
    """The number of records found, counted up to 10,000. A 64-bit integer."""

    total_result: str


async def first_page(
    service: Service, collection: Collection[R], where: Where, order: str | None = None
) -> tuple[ListDetails, list[R]]:
    """Returns the number of records that meet the condition `where`, counted up to 10,000, and the
    first thousand of these records in the order of the field `order`, or of their ids."""
    page: Any = await service.store.find(collection, where, order=order, limit=MAX_RECORDS)
    total = len(page.records)
    # Counting is needed only if there are more records than were read.
    if page.after is not None:
        total = await service.store.count(collection, where)
    return ListDetails(total_result=str(total)), page.records


def each(service: Service, collection: Collection[R], where: Where) -> AsyncIterator[R]:
    """Yields every record that meets the condition `where`. A record that exists throughout is
    yielded exactly once."""
    return walk(service.store, collection, where, first_limit=_MOSTLY_ALL)


async def walk(
    view: Reader,
    collection: Collection[R],
    where: Where,
    order: str | None = None,
    *,
    first_limit: int = MAX_RECORDS,
) -> AsyncIterator[R]:
    """Yields every record that meets the condition `where`, in the order of the field `order`, or
    of the ids if that is None.

    `view` is the source of the records: the store, or a snapshot of it. At most `first_limit`
    records are read first.
    """
    after, limit = None, first_limit
    while True:
        page = await view.find(collection, where, order=order, after=after, limit=limit)
        for record in page.records:
            yield record
        if page.after is None:
            return
        after, limit = page.after, MAX_RECORDS
