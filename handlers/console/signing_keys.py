"""The console's pages of the keys that sign and encrypt tokens: states, rotation and removal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import structs

from handlers.console import commands
from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, cell, chip
from handlers.forms.run_operation import BY_NAME, Document
from idp.foundation.errors import NotFound
from idp.foundation.i18n import Message, message

PATH: Final = "/keys"
_KEYS: Final = "/admin/v1/keys"
_SECTION: Final = "keys"
_STATES: Final = {
    "next": (message("next", context="keys"), None),
    "active": (message("in use", context="keys"), "good"),
    "retired": (message("retired", context="keys"), None),
    "removed": (message("removed", context="keys"), "bad"),
}
_USES: Final = {
    "sig": message("signs", context="keys"),
    "enc": message("seals", context="keys"),
}
_COLUMNS: Final = (
    message("Key id", context="console"),
    message("What for", context="keys"),
    message("Algorithm", context="keys"),
    message("State", context="console"),
    message("Since", context="keys"),
    message("Leaves the key set", context="keys"),
)
_INTRO: Final = message(
    "Keys turn by themselves. The next one is published long before it signs; one that retired"
    " stays published for as long as tokens that it signed may last.",
    context="keys",
)
_REMOVE: Final = message("Remove", context="keys")
_LONGEST: Final = message(
    "The next keys sign from now on. What the present ones signed stays valid until it ends, at"
    " most %(n)s hour.",
    plural="The next keys sign from now on. What the present ones signed stays valid until it"
    " ends, at most %(n)s hours.",
    context="keys",
    n=1,
)


class RotateHandler(ActionHandler):
    """Asks for confirmation of a key rotation, and displays how long signatures of the current
    keys stay valid."""

    async def load(self, *ids: str) -> Document:
        hours = round(self.service.keys.published_for / timedelta(hours=1))
        intro = Message(_LONGEST.msgid, _LONGEST.context, _LONGEST.plural, {"n": hours})
        self.action = structs.replace(self.action, intro=intro)
        return {}


class RemoveHandler(ActionHandler):
    """Removes a signing key. The person has to type its id, because everything that the key signed
    becomes invalid for good."""

    async def load(self, *ids: str) -> Document:
        keys = (await self.run(f"GET {_KEYS}")).get("result", [])
        for key in keys:
            if key["keyId"] == ids[0] and key["state"] != "removed":
                return {"key": key}
        raise NotFound("there is no such key")


ACTIONS: Final = (
    Action(
        path=f"{PATH}/rotate",
        section=_SECTION,
        operation=f"POST {_KEYS}/_rotate",
        title=message("Rotate the keys now", context="keys"),
        button=message("Rotate now", context="keys"),
        handler=RotateHandler,
        then=PATH,
        done="saved",
        command="keys rotate",
    ),
    Action(
        path=f"{PATH}/{{keyId}}/remove",
        section=_SECTION,
        operation=f"POST {_KEYS}/{{keyId}}/_remove",
        title=message("Remove a key at once", context="keys"),
        intro=message(
            "For a key that others may know. All that it signed or sealed is void at once: people"
            " sign in again, and services get new tokens. Its private part is wiped.",
            context="keys",
        ),
        button=_REMOVE,
        name="key.keyId",
        handler=RemoveHandler,
        confirms=True,
        is_dangerous=True,
        then=PATH,
        done="removed",
        command="keys remove {keyId}",
    ),
)


class ConsoleSigningKeysHandler(ConsoleHandler):
    """Lists all signing and encryption keys except the removed ones, the active ones first."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        found = (await self.run(f"GET {_KEYS}")).get("result", [])
        order = list(_STATES)
        keys = [key for key in found if key["state"] != "removed"]
        keys.sort(key=lambda key: (key["state"] != "active", order.index(key["state"])))
        may = "iam.write" in self.visit.rights.everywhere
        rotate = action_link(
            message("Rotate now", context="keys"), self.at(f"{CONSOLE}{PATH}/rotate")
        )
        self.page(
            "console/list",
            title_text=message("Signing keys", context="console"),
            intro=_INTRO,
            search=None,
            columns=[*_COLUMNS, *([_REMOVE] if may else [])],
            rows=[self._row(key, may=may) for key in keys],
            total=None,
            empty=message("There is nothing here yet.", context="console"),
            first_url=None,
            next_url=None,
            actions=[rotate] if may else [],
            commands=commands.rendered(
                self.service.config, BY_NAME[f"GET {_KEYS}"], [], None, None, "keys list"
            ),
        )

    def _row(self, key: Document, *, may: bool) -> Sequence[Cell]:
        remove = f"{CONSOLE}{PATH}/{{keyId}}/remove"
        return [
            cells.code(key["keyId"]),
            cells.text(_USES.get(key["use"], Message(key["use"]))),
            cells.code(key["algorithm"]),
            cell(chip(_STATES, key["state"]), "chip"),
            cells.instant(key["since"]),
            self._leaves(key),
            *([cells.link(_REMOVE, self.at(remove, key["keyId"]))] if may else []),
        ]

    def _leaves(self, key: Document) -> Cell:
        """Returns when a retired key is no longer published."""
        if key["state"] != "retired":
            return cells.text(None)
        ends = datetime.fromisoformat(key["since"]) + self.service.keys.published_for
        return cells.instant(ends.isoformat())


ROUTES = [*routes(ACTIONS), (CONSOLE + PATH, ConsoleSigningKeysHandler)]
