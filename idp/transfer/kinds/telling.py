"""Going through what an organization has, in one consistent state and in a stable order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from storage import Collection, Record, View, Where

_AT_ONCE: Final = 200

R = TypeVar("R", bound=Record)


async def records(
    view: View, collection: Collection[R], where: Where, order: str | None = None
) -> AsyncIterator[R]:
    """Every record of a declared list, a page at a time."""
    after = None
    while True:
        page = await view.find(collection, where, order=order, after=after, limit=_AT_ONCE)
        for record in page.records:
            yield record
        if page.after is None:
            return
        after = page.after


def said(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that say something: what is false, empty or unknown is left out."""
    return {
        name: value for name, value in members.items() if value not in (None, "", [], {}, False, 0)
    }


def instant(at: datetime | None) -> str | None:
    """RFC 3339, in UTC."""
    return at.isoformat().replace("+00:00", "Z") if at else None
