"""The console's list of the active sessions of an organization's users, and the page that ends
one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.console.users.actions import PAGE_PATH as USER_PATH
from handlers.forms import cells
from handlers.forms.cells import Cell
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.i18n import Message, message

PATH: Final = "/sessions"
_SECTION: Final = "sessions"
_END_PATH: Final = f"{PATH}/{{userId}}/{{sessionId}}/end"
_END: Final = message("End", context="users")
_COLUMNS: Final = (
    message("User", context="users"),
    message("Browser", context="users"),
    message("Authentication methods", context="users"),
    message("Signed in", context="users"),
    message("Last used", context="users"),
)
_PASSKEY: Final = message("Passkey", context="factor")
# By the `amr` value of the method; other values only describe one of these.
_METHODS: Final[Mapping[str, Message]] = {
    "pwd": message("Password", context="users"),
    "fed": message("Another identity provider", context="users"),
    "otp": message("One-time code", context="users"),
    "hwk": _PASSKEY,
    "swk": _PASSKEY,
}


class OrganizationSessionsHandler(ListHandler):
    """Lists the active sessions of the current organization's users, those that began last
    first."""

    section = _SECTION
    operation = api.users.SEARCH_SESSIONS_OF_ORGANIZATION
    title = message("Sessions", context="users")
    empty = message("No active sessions.", context="users")
    icon = "monitor-smartphone"
    command = "org sessions"
    newest_first = True

    async def show(self, *ids: str) -> None:
        self.columns = (*_COLUMNS, _END) if self.may("user.write") else _COLUMNS
        await super().show(*ids)

    def row(self, session: Document) -> list[Cell]:
        user_id = session["userId"]
        row = [
            cells.link(session["displayName"], self.url_of(CONSOLE + USER_PATH, user_id)),
            _browser(session.get("browser"), session.get("system")),
            cells.texts(_methods(session["authenticationMethods"])),
            cells.instant(session["authenticationDate"]),
            cells.instant(session["lastUsedDate"]),
        ]
        if self.may("user.write"):
            row.append(cells.link(_END, self.url_of(CONSOLE + _END_PATH, user_id, session["id"])))
        return row


def _browser(browser: str | None, system: str | None) -> Cell:
    if not (browser and system):
        return cells.text(browser or system)
    return cells.lines(
        [message("%(browser)s on %(system)s", context="account", browser=browser, system=system)]
    )


def _methods(amr: Iterable[str]) -> list[Message]:
    """Returns the names of the methods of an authentication, each once."""
    names = list[Message]()
    for value in amr:
        if value in _METHODS and _METHODS[value] not in names:
            names.append(_METHODS[value])
    return names


class SessionEndHandler(ActionHandler):
    """Ends one session, after a confirmation that names the user."""

    async def load(self, *ids: str) -> Document:
        # Without the version of the record, which is the user's and not the session's.
        return {"name": (await super().load(*ids))["user"]["username"]}


ACTIONS: Final = (
    Action(
        path=_END_PATH,
        section=_SECTION,
        operation=api.users.END_SESSION,
        loads=api.users.READ,
        handler=SessionEndHandler,
        name="name",
        title=message("End the session", context="users"),
        intro=message(
            "The user is signed out in this browser, and the tokens of the session are revoked.",
            context="users",
        ),
        button=_END,
        is_dangerous=True,
        next_path=PATH,
        confirmation="ended",
        command="user end-session --user {userId} {sessionId}",
    ),
)

ROUTES = [*routes(ACTIONS), (CONSOLE + PATH, OrganizationSessionsHandler)]
