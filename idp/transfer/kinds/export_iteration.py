"""Iteration over an organization's records, in one consistent state and in a stable order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from idp.records import POLICIES, PROJECTS, Organization, Policy, Project
from storage import Collection, Reader, Record, Where

_PAGE_SIZE: Final = 200

R = TypeVar("R", bound=Record)


async def records(
    view: Reader,
    collection: Collection[R],
    where: Where,
    order: str | None = None,
    page_size: int = _PAGE_SIZE,
) -> AsyncIterator[R]:
    """Yields every record that matches `where`, in the order of the field `order`, read from
    `view` in pages of `page_size` records. The collection must declare a list with this condition
    and order.
    """
    after = None
    while True:
        page = await view.find(collection, where, order=order, after=after, limit=page_size)
        for record in page.records:
            yield record
        if page.after is None:
            return
        after = page.after


async def slices(records_iterator: AsyncIterator[R], size: int) -> AsyncIterator[list[R]]:
    """Yields the records of `records_iterator` in lists of `size`; the last list may be
    shorter."""
    batch: list[R] = []
    async for record in records_iterator:
        batch.append(record)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def projects(view: Reader, organization: Organization) -> AsyncIterator[Project]:
    """Yields the organization's projects in the order of their names."""
    return records(view, PROJECTS, {"org_id": organization.id}, order="name")


async def own_policies(view: Reader, organization: Organization) -> list[Policy]:
    """Returns the organization's own policies and texts: one for each kind and language."""
    return [each async for each in records(view, POLICIES, {"org_id": organization.id})]


def non_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the members whose values are not None, false, zero or empty."""
    return {
        name: value for name, value in members.items() if value not in (None, "", [], {}, False, 0)
    }


def instant(at: datetime | None) -> str | None:
    """Returns an instant as RFC 3339 text in UTC; None for None."""
    return at.isoformat().replace("+00:00", "Z") if at else None
