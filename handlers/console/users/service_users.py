"""The console's pages of service users, the accounts of scripts and back ends."""

from __future__ import annotations

from typing import Any, Final

from handlers.console.actions import routes
from handlers.console.applications import client_secrets, registered_keys
from handlers.console.base import ConsoleHandler
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.console.users.service_user_actions import ACTIONS, PAGE_PATH, PATH
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, labelled_cell, sub_list
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.i18n import message

_SECTION: Final = "service-users"
_NAME: Final = message("Name", context="console")
_LOGIN: Final = message("Username", context="console")
_STATE: Final = message("State", context="console")
_ID: Final = message("ID", context="console")
_CREATED: Final = message("Created", context="console")
_UNTIL: Final = message("Valid until", context="console")
_USED: Final = message("Last used", context="console")
_REVOKE: Final = message("Revoke", context="console")

_ACTION_LABELS: Final = {
    "edit": message("Change", context="users"),
    "pats/new": message("New access token", context="service-users"),
    "secret": message("New secret", context="applications"),
    "secret/delete": message("Delete the secret", context="service-users"),
    "deactivate": message("Deactivate", context="console"),
    "reactivate": message("Reactivate", context="console"),
    "unlock": message("Unlock", context="users"),
    "delete": message("Delete", context="console"),
}
_STATE_CHANGES: Final = {"ACTIVE": "deactivate", "INACTIVE": "reactivate", "LOCKED": "unlock"}


class ServiceUsersHandler(ListHandler):
    """Lists the service users of the current organization."""

    section = _SECTION
    operation = api.users.SEARCH
    title = message("Service accounts", context="console")
    intro = message(
        "Scripts and back ends sign in with a token, a key or a secret.",
        context="service-users",
    )
    icon = "bot"
    empty = message("No service accounts yet.", context="service-users")
    columns = (_NAME, _LOGIN, _STATE, _ID)
    command = "service-user list"

    def queries(self, values: Document) -> list[Document]:
        return [
            {"typeQuery": {"type": "TYPE_MACHINE"}},
            {"organizationIdQuery": {"organizationId": self.org_id}},
        ]

    def row(self, user: Document) -> list[Cell]:
        machine = user.get("machine", {})
        return [
            cells.link(machine.get("name", ""), self.url_of(CONSOLE + PAGE_PATH, user["userId"])),
            cells.text(user["username"]),
            cells.state_cell(user["state"]),
            cells.code(user["userId"]),
        ]

    def actions(self) -> list[Cell]:
        label = message("New service account", context="service-users")
        return (
            [action_link(label, self.url_of(f"{CONSOLE}{PATH}/new"))]
            if self.may("user.write")
            else []
        )


class ServiceUserHandler(ConsoleHandler):
    """Shows one service user with its tokens, secrets and keys."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        user = (await self.run(api.users.READ, *ids))["user"]
        machine, may_change = user["machine"], self.may("user.write")
        self.object_page(
            machine["name"],
            state=cells.state(user["state"]),
            properties=_properties(user, machine),
            actions=self._action_links(ids, user) if may_change else [],
            page_parts=[
                await self._pats(ids, may_change=may_change),
                *await client_secrets.sub_lists(
                    self, PAGE_PATH, api.service_users.SECRETS, ids, may_change=may_change
                ),
                await registered_keys.sub_list(
                    self, PAGE_PATH, api.service_users.SEARCH_KEYS, ids, may_change=may_change
                ),
            ],
            commands=self.shell(api.users.READ, ids, "user show {userId}"),
        )

    def _action_links(self, ids: tuple[str, ...], user: Document) -> list[Cell]:
        has_secret = bool(user["machine"].get("hasSecret"))
        state_change = _STATE_CHANGES[user["state"].rpartition("_")[2]]
        actions = [
            "edit",
            "secret",
            *(["secret/delete"] if has_secret else []),
            state_change,
            "delete",
        ]
        return [
            action_link(
                _ACTION_LABELS[name],
                self.url_of(f"{CONSOLE}{PAGE_PATH}/{name}", *ids),
                is_dangerous=name in ("deactivate", "delete", "secret/delete"),
            )
            for name in actions
        ]

    async def _pats(self, ids: tuple[str, ...], *, may_change: bool) -> dict[str, Any]:
        list_page = await fetch_page(self, "pats", api.service_users.SEARCH_TOKENS, *ids)
        path = f"{CONSOLE}{PAGE_PATH}/pats"
        link = action_link(_ACTION_LABELS["pats/new"], self.url_of(f"{path}/new", *ids))
        return sub_list(
            message("Personal access tokens", context="service-users"),
            [_ID, _CREATED, _UNTIL, _USED, *([_REVOKE] if may_change else [])],
            [
                [
                    cells.code(pat["id"]),
                    cells.instant(pat["details"].get("creationDate")),
                    registered_keys.expiry_cell(pat["expirationDate"]),
                    cells.instant(pat.get("lastUsedAt")),
                    *(
                        [
                            cells.link(
                                _REVOKE, self.url_of(f"{path}/{{tokenId}}/delete", *ids, pat["id"])
                            )
                        ]
                        if may_change
                        else []
                    ),
                ]
                for pat in list_page.records
            ],
            message("There are no tokens.", context="service-users"),
            [link] if may_change else [],
            list_page,
        )


def _properties(user: Document, machine: Document) -> list[Cell]:
    is_jwt = machine.get("accessTokenType", "").endswith("_JWT")
    return [
        labelled_cell(_LOGIN, cells.text(user.get("preferredLoginName") or user["username"])),
        labelled_cell(_ID, cells.code(user["userId"])),
        labelled_cell(
            message("Description", context="service-users"),
            cells.text(machine.get("description")),
        ),
        labelled_cell(
            message("Access tokens", context="applications"),
            cells.text(
                message("JWT", context="applications")
                if is_jwt
                else message("Opaque", context="applications")
            ),
        ),
        labelled_cell(
            message("Has a secret", context="service-users"),
            cells.switch(bool(machine.get("hasSecret"))),
        ),
    ]


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, ServiceUsersHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", ServiceUserHandler),
]
