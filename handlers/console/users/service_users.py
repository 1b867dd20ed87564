"""The console's pages of service users, the accounts of scripts and back ends."""

from __future__ import annotations

from typing import Any, Final

from handlers.console import commands
from handlers.console.actions import routes
from handlers.console.applications import client_secrets, registered_keys
from handlers.console.base import ConsoleHandler
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.console.users.service_user_actions import ACTIONS, ONE, PATH, USER
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, fact, sub_list
from handlers.forms.run_operation import BY_NAME, Document
from idp.foundation.i18n import message

_SECTION: Final = "service-users"
_NAME: Final = message("Name", context="console")
_LOGIN: Final = message("Login name", context="console")
_STATE: Final = message("State", context="console")
_ID: Final = message("Id", context="console")
_MADE: Final = message("Created", context="console")
_UNTIL: Final = message("Valid until", context="console")
_USED: Final = message("Last used", context="console")
_REVOKE: Final = message("Revoke", context="console")

_WAYS: Final = {
    "edit": message("Change", context="users"),
    "pats/new": message("New access token", context="service-users"),
    "secret": message("New secret", context="applications"),
    "secret/delete": message("Delete the secret", context="service-users"),
    "deactivate": message("Deactivate", context="console"),
    "reactivate": message("Reactivate", context="console"),
    "unlock": message("Unlock", context="users"),
    "delete": message("Delete", context="console"),
}
_TURNS: Final = {"ACTIVE": "deactivate", "INACTIVE": "reactivate", "LOCKED": "unlock"}


class ServiceUsersHandler(ListHandler):
    """Lists the service users of the current organization."""

    section = _SECTION
    operation = "POST /v2/users"
    title = message("Service users", context="console")
    intro = message(
        "Scripts and back ends sign in by themselves: with a token, a key or a secret.",
        context="service-users",
    )
    empty = message("There is no service user yet.", context="service-users")
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
            cells.link(machine.get("name", ""), self.at(CONSOLE + ONE, user["userId"])),
            cells.text(user["username"]),
            cells.state_cell(user["state"]),
            cells.code(user["userId"]),
        ]

    def actions(self) -> list[Cell]:
        new = message("New service user", context="service-users")
        return (
            [action_link(new, self.at(f"{CONSOLE}{PATH}/new"))] if self.may("user.write") else []
        )


class ServiceUserHandler(ConsoleHandler):
    """Shows one service user with its tokens, secrets and keys."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        user = (await self.run("GET /v2/users/{userId}", *ids))["user"]
        machine, may = user["machine"], self.may("user.write")
        self.page(
            "console/show",
            title_text=machine["name"],
            state=cells.state(user["state"]),
            intro=None,
            facts=_facts(user, machine),
            actions=self._action_links(ids, user) if may else [],
            parts_of=[
                await self._pats(ids, may=may),
                *await client_secrets.sub_lists(self, ONE, USER, ids, may=may),
                await registered_keys.sub_list(self, ONE, USER, ids, may=may),
            ],
            commands=commands.rendered(
                self.service.config,
                BY_NAME["GET /v2/users/{userId}"],
                ids,
                None,
                self.org_id,
                "user show {userId}",
            ),
        )

    def _action_links(self, ids: tuple[str, ...], user: Document) -> list[Cell]:
        has_secret = bool(user["machine"].get("hasSecret"))
        turn = _TURNS[user["state"].rpartition("_")[2]]
        actions = [
            "edit",
            "pats/new",
            "secret",
            *(["secret/delete"] if has_secret else []),
            turn,
            "delete",
        ]
        return [
            action_link(
                _WAYS[name],
                self.at(f"{CONSOLE}{ONE}/{name}", *ids),
                is_dangerous=name == "delete",
            )
            for name in actions
        ]

    async def _pats(self, ids: tuple[str, ...], *, may: bool) -> dict[str, Any]:
        list_page = await fetch_page(self, "pats", f"POST {USER}/pats/_search", *ids)
        path = f"{CONSOLE}{ONE}/pats"
        new = action_link(_WAYS["pats/new"], self.at(f"{path}/new", *ids))
        return sub_list(
            message("Personal access tokens", context="service-users"),
            [_ID, _MADE, _UNTIL, _USED, *([_REVOKE] if may else [])],
            [
                [
                    cells.code(pat["id"]),
                    cells.instant(pat["details"].get("creationDate")),
                    registered_keys.until(pat["expirationDate"]),
                    cells.instant(pat.get("lastUsedAt")),
                    *(
                        [
                            cells.link(
                                _REVOKE, self.at(f"{path}/{{tokenId}}/delete", *ids, pat["id"])
                            )
                        ]
                        if may
                        else []
                    ),
                ]
                for pat in list_page.records
            ],
            message("There are no tokens.", context="service-users"),
            [new] if may else [],
            list_page,
        )


def _facts(user: Document, machine: Document) -> list[Cell]:
    is_jwt = machine.get("accessTokenType", "").endswith("_JWT")
    return [
        fact(_LOGIN, cells.text(user.get("preferredLoginName") or user["username"])),
        fact(_ID, cells.code(user["userId"])),
        fact(
            message("Description", context="service-users"),
            cells.text(machine.get("description")),
        ),
        fact(
            message("Access tokens", context="applications"),
            cells.text(
                message("JWT", context="applications")
                if is_jwt
                else message("Opaque", context="applications")
            ),
        ),
        fact(
            message("Has a secret", context="service-users"),
            cells.switch(bool(machine.get("hasSecret"))),
        ),
    ]


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, ServiceUsersHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", ServiceUserHandler),
]
