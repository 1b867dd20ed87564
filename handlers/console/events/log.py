"""The console's audit log: searching and downloading events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Struct

from handlers.console import commands, filter_chips
from handlers.console.base import ConsoleHandler
from handlers.console.events import entries as event_entries
from handlers.console.events import filters as event_filters
from handlers.console.lists import PAGE
from handlers.console.sections import CONSOLE
from handlers.forms import fields
from handlers.forms.cells import Cell, action_link
from handlers.forms.fields import Values
from handlers.forms.run_operation import Document
from handlers.http import response_parts
from idp import api
from idp.api.operation import Operation
from idp.foundation.errors import InvalidArgument
from idp.foundation.i18n import Message, message
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.instance import events as instance_events
from idp.management.instance.events import EventQuery
from idp.schema import reading

PATH: Final = f"{CONSOLE}/events"


class EventScope(Struct, frozen=True):
    """The events that a page of the audit log lists: those of the current organization or, with
    `is_for_all`, of the whole installation. `operation` searches them; `path` is the page's
    address."""

    title: Message
    operation: Operation
    path: str
    is_for_all: bool


_OF_ORGANIZATION: Final = EventScope(
    message("Events", context="console"),
    api.events.SEARCH,
    PATH,
    is_for_all=False,
)
_OF_INSTALLATION: Final = EventScope(
    message("Events of the whole installation", context="events"),
    api.events.SEARCH_EVERYWHERE,
    f"{PATH}/installation",
    is_for_all=True,
)


class EventsBase(ConsoleHandler):
    """The base of the audit log's pages. The query parameters of their address are the search."""

    section = "events"
    scope: EventScope

    def initialize(self, scope: EventScope) -> None:  # type: ignore[override]
        super().initialize()
        self.scope = scope

    def values(self) -> Values:
        return fields.submitted_values(event_filters.FIELDS, self.query_params())

    async def document(self, values: Values) -> Document:
        """Returns the document of the search. Raises InvalidArgument."""
        return await event_filters.query(self, values, self.time_zone(), self.searched_org_id)

    @property
    def searched_org_id(self) -> str | None:
        """The id of the organization whose events are searched; None for the whole
        installation."""
        return None if self.scope.is_for_all else self.org_id


class EventsHandler(EventsBase):
    """Lists the events that the search finds, the newest first."""

    async def show(self, *ids: str) -> None:
        values, cursor = self.values(), self.query_params().if_once("cursor")
        document: Document = {}
        problems: list[dict[str, object]] = []
        try:
            document = await self.document(values)
            query = {**document, "limit": PAGE, **({"cursor": cursor} if cursor else {})}
            answer = await self.run(
                self.scope.operation, document=query, org_id=self.searched_org_id
            )
        except InvalidArgument as error:
            problems, answer = fields.problems(event_filters.FIELDS, error), {}
        await self._show(
            values, document, answer, cursor, status=400 if problems else 200, problems=problems
        )

    async def _show(
        self,
        values: Values,
        document: Document,
        answer: Document,
        cursor: str | None,
        **page_values: Any,
    ) -> None:
        pairs = {name: value for name, value in values.items() if value}
        next_cursor = answer.get("nextCursor")
        form_fields = event_filters.fields(values["eventTypes"])
        self.page(
            "console/events",
            title_text=self.scope.title,
            search={
                "fields": fields.rendered(form_fields, values),
                "hidden": [("org", org)] if (org := self.requested_id("org")) else [],
                "clear_url": self.url_of(self.scope.path) if pairs else None,
                "chips": filter_chips.chips(
                    form_fields, values, partial(self.url_of, self.scope.path)
                ),
            },
            entries=await event_entries.entries(
                self, answer.get("events", ()), self.searched_org_id
            ),
            first_url=self.url_of(self.scope.path, **pairs) if cursor else None,
            next_url=self.url_of(self.scope.path, **pairs, cursor=next_cursor)
            if next_cursor
            else None,
            actions=self._action_links(pairs),
            commands=commands.rendered(
                self.service.config,
                self.scope.operation,
                [],
                document,
                self.searched_org_id,
                "audit tail",
            ),
            **page_values,
        )

    def _action_links(self, pairs: dict[str, str]) -> list[Cell]:
        download = message("Download as NDJSON", context="events")
        links = [action_link(download, self.url_of(f"{self.scope.path}/download", **pairs))]
        if "iam.read" in self.console_session.rights.everywhere:
            links.append(self._other_scope_link())
        return links

    def _other_scope_link(self) -> Cell:
        if self.scope.is_for_all:
            label = message("Events of the organization", context="events")
            return action_link(label, self.url_of(_OF_ORGANIZATION.path))
        return action_link(_OF_INSTALLATION.title, self.url_of(_OF_INSTALLATION.path))


class ConsoleDownloadHandler(EventsBase):
    """Sends the events that the search finds as a file with one JSON document per line."""

    async def show(self, *ids: str) -> None:
        events = await self._prepare()
        self.set_header("Content-Type", "application/x-ndjson")
        self.set_header("Content-Disposition", 'attachment; filename="events.ndjson"')
        async for event in events:
            self.write(msgspec.json.encode(event) + b"\n")
            if sum(map(len, self._write_buffer)) > response_parts.PART_BYTES:
                await response_parts.send_written(self)
        self.finish()

    async def _prepare(self) -> AsyncIterator[Any]:
        """Prepares the download, before it begins. Raises InvalidArgument, PermissionDenied."""
        operation, session = self.scope.operation, self.console_session
        call = Call(session.user, session.rights, operation.permission, self.searched_org_id)
        call = await management_call.admitted(self.service, call)
        request = reading.read(EventQuery, await self.document(self.values()))
        everywhere = self.scope.is_for_all
        return instance_events.lines(self.service, call, request, everywhere=everywhere)


ROUTES = [
    route
    for scope in (_OF_ORGANIZATION, _OF_INSTALLATION)
    for route in (
        (scope.path, EventsHandler, {"scope": scope}),
        (f"{scope.path}/download", ConsoleDownloadHandler, {"scope": scope}),
    )
]
