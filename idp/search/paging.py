"""Reading the lists that belong to a record: the first records for answers, or all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final, TypeVar

from idp.schema.answers import Answer
from idp.service import Service
from storage import Collection, Record, View, Where

MOST: Final = 1000

R = TypeVar("R", bound=Record)


class ListDetails(Answer, frozen=True, kw_only=True):
    """How many there are; counted up to 10,000. A 64-bit integer."""

    total_result: str


async def of(
    service: Service, collection: Collection[R], where: Where, order: str | None = None
) -> tuple[ListDetails, list[R]]:
    """Returns the first thousand records of a declared list, and how many it has."""
    page: Any = await service.store.find(collection, where, order=order, limit=MOST)
    total = len(page.records)
    # Counting is needed only if there are more records than were read.
    if page.after is not None:
        total = await service.store.count(collection, where)
    return ListDetails(total_result=str(total)), page.records


def each(service: Service, collection: Collection[R], where: Where) -> AsyncIterator[R]:
    """Yields every record of a declared list. A record that is not deleted meanwhile is yielded
    once."""
    return walk(service.store, collection, where)


async def walk(
    view: View, collection: Collection[R], where: Where, order: str | None = None
) -> AsyncIterator[R]:
    """Yields every record of a declared list, in its order, as this view has them."""
    after = None
    while True:
        page = await view.find(collection, where, order=order, after=after, limit=MOST)
        for record in page.records:
            yield record
        if page.after is None:
            return
        after = page.after
