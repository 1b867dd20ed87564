"""Paging for lists that are part of another record's page.

Each such list has a name; the query parameter of that name has the cursor of the displayed page.
"""

from __future__ import annotations

from collections.abc import Sequence

from handlers.console.base import ConsoleHandler
from handlers.console.lists import PAGE
from handlers.forms.cells import ListPage
from handlers.forms.run_operation import Document
from idp.api.operation import Operation


async def fetch_page(
    page: ConsoleHandler,
    name: str,
    operation: Operation,
    *ids: str,
    queries: Sequence[Document] = (),
    limit: int = PAGE,
) -> ListPage:
    """Runs an operation that searches, and returns the page of its results whose cursor is in the
    query parameter `name`. Raises the errors of the operation."""
    cursor = page.query_params().get(name)
    document: Document = {"query": {"limit": limit, **({"cursor": cursor} if cursor else {})}}
    if queries:
        document["queries"] = queries
    answer = await page.run(operation, *ids, document=document)
    path, next_cursor = page.request.path, answer.get("nextCursor")
    return ListPage(
        answer.get("result", []),
        page.url_of(path) if cursor else None,
        page.url_of(path, **{name: next_cursor}) if next_cursor else None,
    )
