"""The console's pages of the keys that sign and encrypt tokens: states, rotation and removal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import structs

from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, cell, chip
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.errors import NotFound
from idp.foundation.i18n import Message, message

PATH: Final = "/keys"
_SECTION: Final = "keys"
_STATES: Final = {
    "next": (message("next", context="keys"), None),
    "active": (message("in use", context="keys"), "good"),
    "retired": (message("retired", context="keys"), None),
    "removed": (message("removed", context="keys"), "danger"),
}
_USES: Final = {
    "sig": message("signs", context="keys"),
    "enc": message("encrypts", context="keys"),
}
_COLUMNS: Final = (
    message("Key ID", context="console"),
    message("Use", context="keys"),
    message("Algorithm", context="keys"),
    message("State", context="console"),
    message("Since", context="keys"),
    message("Leaves the key set", context="keys"),
)
_INTRO: Final = message(
    "Keys rotate automatically. The next key is published long "
    "before it signs. A retired key stays published until the tokens "
    "that it signed have expired.",
    context="keys",
)
_REMOVE: Final = message("Remove", context="keys")
_ROTATION_INTRO: Final = message(
    "The next keys sign from now on. Tokens signed by the current "
    "keys stay valid until they expire, at most %(n)s hour.",
    plural="The next keys sign from now on. Tokens signed by the current "
    "keys stay valid until they expire, at most %(n)s hours.",
    context="keys",
    n=1,
)


class RotateHandler(ActionHandler):
    """Asks for confirmation of a key rotation, and displays how long signatures of the current
    keys stay valid."""

    async def load(self, *ids: str) -> Document:
        hours = round(self.service.keys.published_for / timedelta(hours=1))
        intro = Message(
            _ROTATION_INTRO.msgid, _ROTATION_INTRO.context, _ROTATION_INTRO.plural, {"n": hours}
        )
        self.action = structs.replace(self.action, intro=intro)
        return {}


class RemoveHandler(ActionHandler):
    """Removes a signing key. The person has to enter its id, because everything that the key
    signed becomes invalid, and remains so."""

    async def load(self, *ids: str) -> Document:
        keys = (await self.run(api.instance.KEYS)).get("result", [])
        for key in keys:
            if key["keyId"] == ids[0] and key["state"] != "removed":
                return {"key": key}
        raise NotFound("there is no such key")


ACTIONS: Final = (
    Action(
        path=f"{PATH}/rotate",
        section=_SECTION,
        operation=api.instance.ROTATE_KEYS,
        title=message("Rotate the keys now", context="keys"),
        button=message("Rotate now", context="keys"),
        handler=RotateHandler,
        next_path=PATH,
        confirmation="saved",
        command="keys rotate",
    ),
    Action(
        path=f"{PATH}/{{keyId}}/remove",
        section=_SECTION,
        operation=api.instance.REMOVE_KEY,
        title=message("Remove a key immediately", context="keys"),
        intro=message(
            "For a key that may be compromised. Everything that it signed or "
            "encrypted becomes invalid immediately. Users sign in again, and "
            "services get new tokens. Its private key is deleted.",
            context="keys",
        ),
        button=_REMOVE,
        name="key.keyId",
        handler=RemoveHandler,
        confirms=True,
        is_dangerous=True,
        next_path=PATH,
        confirmation="removed",
        command="keys remove {keyId}",
    ),
)


class ConsoleSigningKeysHandler(ConsoleHandler):
    """Lists all signing and encryption keys except the removed ones, the active ones first."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        signing_keys = (await self.run(api.instance.KEYS)).get("result", [])
        order = list(_STATES)
        keys = [key for key in signing_keys if key["state"] != "removed"]
        keys.sort(key=lambda key: (key["state"] != "active", order.index(key["state"])))
        may_change = "iam.write" in self.console_session.rights.everywhere
        rotate = action_link(
            message("Rotate now", context="keys"), self.url_of(f"{CONSOLE}{PATH}/rotate")
        )
        self.whole_list(
            title_text=message("Signing keys", context="console"),
            intro=_INTRO,
            columns=[*_COLUMNS, *([_REMOVE] if may_change else [])],
            rows=[self._row(key, may_change=may_change) for key in keys],
            empty_icon="key-round",
            actions=[rotate] if may_change else [],
            commands=self.shell(api.instance.KEYS, [], "keys list"),
        )

    def _row(self, key: Document, *, may_change: bool) -> Sequence[Cell]:
        remove = f"{CONSOLE}{PATH}/{{keyId}}/remove"
        return [
            cells.code(key["keyId"]),
            cells.text(_USES.get(key["use"], Message(key["use"]))),
            cells.code(key["algorithm"]),
            cell(chip(_STATES, key["state"]), "chip"),
            cells.instant(key["since"]),
            self._end_of_publication(key),
            *([cells.link(_REMOVE, self.url_of(remove, key["keyId"]))] if may_change else []),
        ]

    def _end_of_publication(self, key: Document) -> Cell:
        """Returns a cell with the instant from which a retired key is no longer published."""
        if key["state"] != "retired":
            return cells.text(None)
        published_until = datetime.fromisoformat(key["since"]) + self.service.keys.published_for
        return cells.instant(published_until.isoformat())


ROUTES = [*routes(ACTIONS), (CONSOLE + PATH, ConsoleSigningKeysHandler)]
