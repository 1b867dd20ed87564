"""The console's list of connections, the page of a single connection, and the choice of a kind
for a new connection."""

from __future__ import annotations

from typing import Any, Final

from handlers.console.actions import routes
from handlers.console.base import ConsoleHandler
from handlers.console.connections.actions import ACTIONS
from handlers.console.connections.fields import TITLES
from handlers.console.connections.owners import OF_INSTANCE, OF_ORGANIZATION, ConnectionOwner
from handlers.console.connections.trials import (
    BUTTON,
    InstallationTestResultHandler,
    TestResultHandler,
)
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, labelled_cell, sub_list
from handlers.forms.run_operation import Document
from handlers.pages import icons
from idp.foundation.i18n import message
from idp.management.connections.views import TYPES
from idp.records.connections import ConnectionKind

_NAME: Final = message("Name", context="console")
_STATE: Final = message("State", context="console")
_ID: Final = message("ID", context="console")
_KIND: Final = message("Kind", context="connections")
_LINKS: Final = message("Linked users", context="connections")
_NEW_TITLE: Final = message("New connection", context="connections")
_KINDS: Final[dict[str, ConnectionKind]] = {name: kind for kind, name in TYPES.items()}


class ConnectionsHandler(ListHandler):
    """Lists the connections of the current organization."""

    section = OF_ORGANIZATION.section
    operation = OF_ORGANIZATION.operations.search
    title = message("Connections", context="connections")
    intro = message("Other identity providers that users can sign in with.", context="connections")
    icon = "link"
    empty = message("No connections yet.", context="connections")
    columns = (_NAME, _KIND, _STATE, _LINKS, _ID)
    command = "connection list"

    def row(self, connection: Document) -> list[Cell]:
        return _row(self, OF_ORGANIZATION, connection)

    def actions(self) -> list[Cell]:
        return _actions(self, OF_ORGANIZATION)


class InstallationConnectionsHandler(ListHandler):
    """Lists the connections of the installation."""

    section = OF_INSTANCE.section
    operation = OF_INSTANCE.operations.search
    title = message("Connections of the installation", context="connections")
    intro = ConnectionsHandler.intro
    icon = ConnectionsHandler.icon
    empty = ConnectionsHandler.empty
    columns = ConnectionsHandler.columns
    command = "connection list --instance"
    is_everywhere = True

    def row(self, connection: Document) -> list[Cell]:
        return _row(self, OF_INSTANCE, connection)

    def actions(self) -> list[Cell]:
        return _actions(self, OF_INSTANCE)


def _row(handler: ListHandler, owner: ConnectionOwner, connection: Document) -> list[Cell]:
    return [
        cells.link(
            connection["name"], handler.url_of(CONSOLE + owner.page_path, connection["id"])
        ),
        cells.text(TITLES[_KINDS[connection["type"]]]),
        cells.state_cell(connection["state"]),
        cells.switch(connection.get("isLinked", False)),
        cells.code(connection["id"]),
    ]


def _actions(handler: ListHandler, owner: ConnectionOwner) -> list[Cell]:
    url = handler.url_of(f"{CONSOLE}{owner.path}/new")
    return [action_link(_NEW_TITLE, url)] if handler.may(owner.write) else []


class NewConnectionHandler(ConsoleHandler):
    """Offers the kinds of connections, each of which has a form of its own."""

    owner: ConnectionOwner = OF_ORGANIZATION
    section = OF_ORGANIZATION.section

    async def show(self, *ids: str) -> None:
        rows = [
            [
                cells.link(title, self.url_of(f"{CONSOLE}{self.owner.path}/new/{kind}"))
                | {"icon": icons.of_provider(kind)},
            ]
            for kind, title in TITLES.items()
        ]
        self.object_page(
            _NEW_TITLE,
            intro=message("Which provider do users sign in with?", context="connections"),
            page_parts=[sub_list(_KIND, [_KIND], rows, _KIND)],
        )


class NewInstallationConnectionHandler(NewConnectionHandler):
    """Offers the kinds of connections for a new connection of the installation."""

    owner = OF_INSTANCE
    section = OF_INSTANCE.section


class ConnectionHandler(ConsoleHandler):
    """Shows one connection, and the redirect URI that has to be registered at the provider."""

    owner: ConnectionOwner = OF_ORGANIZATION
    section = OF_ORGANIZATION.section

    async def show(self, *ids: str) -> None:
        (connection_id,) = ids
        operations = self.owner.operations
        connection = (await self.run(operations.read, connection_id))["idp"]
        offered = await self.run(operations.offered, document={"query": {"limit": 1000}})
        is_offered = any(each["id"] == connection_id for each in offered.get("result", ()))
        self.object_page(
            connection["name"],
            state=cells.state(connection["state"]),
            properties=_properties(connection, is_offered=is_offered),
            actions=self._action_links(connection_id, connection, is_offered=is_offered),
            page_parts=[_settings(connection)],
            commands=self.shell(
                operations.read, [connection_id], f"connection get{self.owner.option} {{idpId}}"
            ),
        )

    def _action_links(
        self, connection_id: str, connection: Document, *, is_offered: bool
    ) -> list[Cell]:
        if not self.may(self.owner.write):
            return []
        is_active = connection["state"].endswith("_ACTIVE")
        links = (
            (message("Change", context="console"), f"edit/{_KINDS[connection['type']]}"),
            (message("Check", context="connections"), "check"),
            (BUTTON, "test"),
            (message("Deactivate", context="console"), "deactivate")
            if is_active
            else (message("Activate", context="connections"), "activate"),
            (message("Withdraw", context="connections"), "withdraw")
            if is_offered
            else (message("Offer", context="connections"), "offer"),
            (message("Delete", context="console"), "delete"),
        )
        return [
            action_link(
                label,
                self.url_of(f"{CONSOLE}{self.owner.page_path}/{action}", connection_id),
                is_dangerous=action in ("deactivate", "delete"),
            )
            for label, action in links
        ]


class InstallationConnectionHandler(ConnectionHandler):
    """Shows one connection of the installation."""

    owner = OF_INSTANCE
    section = OF_INSTANCE.section


def _properties(connection: Document, *, is_offered: bool) -> list[Any]:
    return [
        labelled_cell(_KIND, cells.text(TITLES[_KINDS[connection["type"]]])),
        labelled_cell(_ID, cells.code(connection["id"])),
        labelled_cell(
            message("Redirect URI", context="connections"),
            cells.code(connection.get("callbackUrl")),
        ),
        labelled_cell(
            message("On the sign-in pages", context="connections"), cells.switch(is_offered)
        ),
        labelled_cell(_LINKS, cells.switch(connection.get("isLinked", False))),
        labelled_cell(
            message("Client secret changed", context="connections"),
            cells.instant(connection.get("secretChangedAt")),
        ),
    ]


def _settings(connection: Document) -> Cell:
    """Returns the template value of the settings, under the names of the API."""
    rows = [
        [cells.code(name), cells.codes(values)]
        for name, values in _setting_rows(connection["settings"], "")
        if name not in ("name", "position")
    ]
    setting = message("Setting", context="policies")
    value = message("Value", context="policies")
    return sub_list(message("Settings", context="connections"), [setting, value], rows, setting)


def _setting_rows(value: Document, path: str) -> list[tuple[str, list[str]]]:
    rows: list[tuple[str, list[str]]] = []
    for name, member in value.items():
        member_path = f"{path}.{name}" if path else name
        if isinstance(member, dict):
            rows += _setting_rows(member, member_path)
        else:
            rows.append((member_path, [_as_text(item) for item in _as_list(member)]))
    return rows


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _as_text(value: object) -> str:
    """Returns a value in the form in which the API has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


_HANDLERS: Final = (
    (
        OF_ORGANIZATION,
        ConnectionsHandler,
        NewConnectionHandler,
        ConnectionHandler,
        TestResultHandler,
    ),
    (
        OF_INSTANCE,
        InstallationConnectionsHandler,
        NewInstallationConnectionHandler,
        InstallationConnectionHandler,
        InstallationTestResultHandler,
    ),
)
ROUTES = [
    *routes(ACTIONS),
    *(
        route
        for owner, list_handler, new_handler, page_handler, result_handler in _HANDLERS
        for route in (
            (CONSOLE + owner.path, list_handler),
            (f"{CONSOLE}{owner.path}/new", new_handler),
            (f"{CONSOLE}{owner.path}/([^/]+)", page_handler),
            (f"{CONSOLE}{owner.path}/([^/]+)/tests/([^/]+)", result_handler),
        )
    ),
]
