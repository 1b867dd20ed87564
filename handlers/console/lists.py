"""The base of the console's lists: an operation that searches, displayed page by page as a table.

A `ListHandler` names the operation, the search fields and the columns. The address contains the
search and the cursor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from msgspec import Struct

from handlers.console import commands, filter_chips
from handlers.console.base import ConsoleHandler
from handlers.forms import fields
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp.api.operation import Operation
from idp.foundation.errors import InvalidArgument
from idp.foundation.i18n import Message, message

PAGE: Final = 25
PAGE_SIZES: Final = (25, 50, 100)
_SIZE: Final = "size"  # parameters of the address
_SORT: Final = "sort"
_TOTAL: Final = message("%(n)s in all", plural="%(n)s in all", context="console", n=1)
_LOWER_BOUND: Final = message("%(n)s or more", plural="%(n)s or more", context="console", n=1)


class SortableColumn(Struct, frozen=True):
    """The head of a column: the address of the list sorted by it, and the direction if the list is
    sorted by it now (`aria-sort`)."""

    label: Message
    url: str
    direction: str | None


class ListHandler(ConsoleHandler):
    """A page that lists the records that an operation finds. The operation itself returns only
    records that the person may read."""

    operation: Operation  # an operation that searches
    title: Message
    intro: Message | None = None
    empty: Message = message("There is nothing here yet.", context="console")
    icon = "folder"  # beside `empty`
    search: Sequence[FormField] = ()
    columns: Sequence[Message] = ()
    command = ""
    newest_first = False
    # The `sortingColumn` of the operation by the place of a column.
    orders: ClassVar[Mapping[int, str]] = {}
    is_everywhere = False  # the operation searches all organizations that the person may read

    def queries(self, values: Values) -> list[Document]:
        """Returns the operation's queries for the entered values of the search fields."""
        return []

    @abstractmethod
    def row(self, record: Document) -> list[dict[str, object]]:
        """Returns the table cells of one record of the list (`cells.cell`)."""

    def actions(self) -> list[dict[str, object]]:
        """Returns the links to actions of the page, such as one to create a record
        (`cells.action_link`)."""
        return []

    def selection(self, records: Sequence[Document]) -> dict[str, object] | None:
        """Returns the template value of an action on selected rows
        (`templates/console/list.mako`); None if rows can't be selected."""
        return None

    async def show(self, *ids: str) -> None:
        params = self.query_params()
        values = fields.submitted_values(self.search, params)
        document = self._document()
        if queries := self.queries(values):
            document["queries"] = queries
        problems: list[dict[str, object]] = []
        if cursor := params.get("cursor"):
            document["query"]["cursor"] = cursor
        try:
            org_id = None if self.is_everywhere else self.org_id
            answer = await self.run(self.operation, *ids, document=document, org_id=org_id)
        except InvalidArgument as error:
            problems, answer = fields.problems(self.search, error), {}
        await self.load_related(answer.get("result", ()))
        await self._show(
            ids, values, document, answer, status=400 if problems else 200, problems=problems
        )

    async def load_related(self, records: Sequence[Document]) -> None:
        """Loads what `row` needs beside the records of the page."""

    def _document(self) -> Document:
        """Returns the document of the search with the page size and the order of the address."""
        query: Document = {"limit": self._limit}
        if self.newest_first:
            query["asc"] = False
        column, is_descending = self._order
        if column is None:
            return {"query": query}
        return {
            "query": {**query, "asc": not is_descending},
            "sortingColumn": self.orders[column],
        }

    @property
    def _limit(self) -> int:
        requested = self.query_params().if_once(_SIZE)
        return next((size for size in PAGE_SIZES if str(size) == requested), PAGE)

    @property
    def _order(self) -> tuple[int | None, bool]:
        """The place of the column by which the list is sorted, None if there is none, and whether
        that is descending."""
        requested = self.query_params().if_once(_SORT) or ""
        place = requested.removeprefix("-")
        column = next((each for each in self.orders if str(each) == place), None)
        return column, requested.startswith("-")

    async def _show(
        self,
        ids: Sequence[str],
        values: Values,
        document: Document,
        answer: Document,
        **page_values: Any,
    ) -> None:
        pairs = filter_chips.used(self.search, values)
        is_searched = bool(pairs)
        # The displayed command returns the first page.
        cursor, next_cursor = document["query"].pop("cursor", ""), answer.get("nextCursor")
        operation = self.operation
        self.page(
            "console/list",
            title_text=self.title,
            intro=self.intro,
            search=self._search(values) if self.search else None,
            columns=self._columns(pairs),
            selection=self.selection(answer.get("result", ())),
            rows=[self.row(one) for one in answer.get("result", ())],
            total=_total(answer),
            empty=message("No results.", context="console") if is_searched else self.empty,
            empty_icon="search" if is_searched else self.icon,
            first_url=self._page_url(**pairs) if cursor else None,
            next_url=self._page_url(**pairs, cursor=next_cursor) if next_cursor else None,
            sizes=self._sizes(pairs) if cursor or next_cursor else [],
            actions=self.actions(),
            commands=commands.rendered(
                self.service.config,
                operation,
                ids,
                document,
                None if self.is_everywhere else self.org_id,
                self.command,
            ),
            **page_values,
        )

    def _search(self, values: Values) -> dict[str, object]:
        org_id = self.named_org_id
        unchanged = {_SORT: self.query_params().if_once(_SORT), _SIZE: self._named_size}
        hidden = {"org": org_id, **unchanged}
        return {
            "fields": fields.rendered(self.search, values),
            "hidden": [(name, value) for name, value in hidden.items() if value],
            "clear_url": self._page_url() if filter_chips.used(self.search, values) else None,
            "chips": filter_chips.chips(self.search, values, self._page_url),
        }

    def _columns(self, pairs: Mapping[str, str]) -> list[Message | SortableColumn]:
        """Returns the heads of the columns; those by which the list can be sorted are links."""
        current, is_descending = self._order
        return [
            SortableColumn(
                label,
                self._page_url(**pairs, sort=self._turned(place)),
                ("descending" if is_descending else "ascending") if place == current else None,
            )
            if place in self.orders
            else label
            for place, label in enumerate(self.columns)
        ]

    def _turned(self, place: int) -> str:
        """Returns the order that the head of a column leads to: ascending, then descending."""
        current, is_descending = self._order
        return f"-{place}" if place == current and not is_descending else str(place)

    def _sizes(self, pairs: Mapping[str, str]) -> list[dict[str, object]]:
        return [
            {
                "text": str(size),
                "url": self._page_url(**pairs, size=str(size)),
                "is_current": size == self._limit,
            }
            for size in PAGE_SIZES
        ]

    @property
    def _named_size(self) -> str | None:
        return None if self._limit == PAGE else str(self._limit)

    def _page_url(self, **query: str) -> str:
        """Returns the address of the list with this query, and with its order and page size unless
        the query has others."""
        unchanged = {
            "org": self.named_org_id,
            _SORT: self.query_params().if_once(_SORT) if self._order[0] is not None else None,
            _SIZE: self._named_size,
        }
        pairs = {name: value for name, value in {**unchanged, **query}.items() if value}
        return self.request.path + ("?" + urlencode(pairs) if pairs else "")


def _total(answer: Document) -> Message | None:
    details = answer.get("details", {})
    if "totalResult" not in details:
        return None
    kind = _LOWER_BOUND if details.get("isTotalLowerBound") else _TOTAL
    return Message(kind.msgid, kind.context, kind.plural, {"n": int(details["totalResult"])})
