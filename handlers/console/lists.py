"""The base of the console's lists: an operation that searches, displayed page by page as a table.

A `ListHandler` names the operation, the search fields and the columns. The address contains the
search and the cursor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from handlers.console import commands
from handlers.console.base import ConsoleHandler
from handlers.forms import fields
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp.api.operation import Operation
from idp.foundation.errors import InvalidArgument
from idp.foundation.i18n import Message, message

PAGE: Final = 25
_TOTAL: Final = message("%(n)s in all", plural="%(n)s in all", context="console", n=1)
_LOWER_BOUND: Final = message("%(n)s or more", plural="%(n)s or more", context="console", n=1)


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
        document: Document = {"query": {"limit": PAGE}}
        if self.newest_first:
            document["query"]["asc"] = False
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
        self._show(
            ids, values, document, answer, status=400 if problems else 200, problems=problems
        )

    def _show(
        self,
        ids: Sequence[str],
        values: Values,
        document: Document,
        answer: Document,
        **page_values: Any,
    ) -> None:
        is_searched = any(values.values())
        pairs = {name: value for name, value in values.items() if value}
        # The displayed command returns the first page.
        cursor, next_cursor = document["query"].pop("cursor", ""), answer.get("nextCursor")
        operation = self.operation
        self.page(
            "console/list",
            title_text=self.title,
            intro=self.intro,
            search=self._search(values, is_searched=is_searched) if self.search else None,
            columns=self.columns,
            selection=self.selection(answer.get("result", ())),
            rows=[self.row(one) for one in answer.get("result", ())],
            total=_total(answer),
            empty=message("No results.", context="console") if is_searched else self.empty,
            empty_icon="search" if is_searched else self.icon,
            first_url=self._page_url(**pairs) if cursor else None,
            next_url=self._page_url(**pairs, cursor=next_cursor) if next_cursor else None,
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

    def _search(self, values: Values, *, is_searched: bool) -> dict[str, object]:
        org_id = self.named_org_id
        return {
            "fields": fields.rendered(self.search, values),
            "hidden": [("org", org_id)] if org_id else [],
            "clear_url": self._page_url() if is_searched else None,
        }

    def _page_url(self, **query: str) -> str:
        org_id = self.named_org_id
        pairs = ({"org": org_id} if org_id else {}) | query
        return self.request.path + ("?" + urlencode(pairs) if pairs else "")


def _total(answer: Document) -> Message | None:
    details = answer.get("details", {})
    if "totalResult" not in details:
        return None
    kind = _LOWER_BOUND if details.get("isTotalLowerBound") else _TOTAL
    return Message(kind.msgid, kind.context, kind.plural, {"n": int(details["totalResult"])})
