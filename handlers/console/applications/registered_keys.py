"""The public keys of applications and service users: a sub-list and its forms."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any, Final

from handlers.console.actions import Action, ActionHandler, Secret
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import turned
from handlers.forms import cells
from handlers.forms.cells import Cell, way
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp.credentials import expirations
from idp.foundation.i18n import message

_PAIR: Final = message("Make a pair of keys", context="console")
_UPLOAD: Final = message("Upload a public key", context="console")
_DELETE: Final = message("Delete", context="console")
_UNTIL: Final = message("Valid until", context="console")
_USED: Final = message("Last used", context="console")
_EXPIRY: Final = FormField(
    path="expirationDate",
    label=_UNTIL,
    hint=message(
        "A date such as 2030-12-31; empty: as long as the installation allows.",
        context="console",
    ),
    kind="date",
    direction="ltr",
)
_PUBLIC: Final = FormField(
    path="publicKey",
    label=message("Public key", context="console"),
    hint=message("As PEM: RSA, P-256 or Ed25519.", context="console"),
    kind="free",
    direction="ltr",
    is_required=True,
)


def dated(document: Document, latest: datetime) -> Document:
    """Returns the document with `expirationDate`, if it is a plain date, replaced by the end of
    that day.

    On the day of `latest`, the latest allowed expiration, it is replaced by `latest`.
    """
    date = document.get("expirationDate", "")
    if len(date) != len("2030-12-31"):
        return document
    is_last_day = date == f"{latest:%Y-%m-%d}"
    ends = latest.isoformat() if is_last_day else f"{date}T23:59:59Z"
    return {**document, "expirationDate": ends}


class KeyHandler(ActionHandler):
    """Generates a key pair or registers a public key in PEM, with an expiration date."""

    def document(self, values: Values) -> Document:
        config = self.service.config
        latest = expirations.latest(self.service.clock.now(), config.key_max_days)
        sent = dated(super().document(values), latest)
        if "publicKey" in sent:
            sent["publicKey"] = base64.b64encode(sent["publicKey"].strip().encode()).decode()
        return sent


def actions(one: str, owner: str, whose: str, **shared: Any) -> tuple[Action, ...]:
    """Returns the actions for the keys of an application or service user.

    `one` is the path of its page, `owner` its path in the API, and `whose` are the options of the
    command line that name it. `shared` are further members of each action.
    """
    keys = f"{owner}/keys"
    return (
        Action(
            path=f"{one}/keys/new",
            operation=f"POST {keys}",
            title=_PAIR,
            intro=message(
                "The private half is shown once, as a file that client libraries read.",
                context="console",
            ),
            button=_PAIR,
            fields=(_EXPIRY,),
            handler=KeyHandler,
            shows=(Secret("keyDetails", message("Key file", context="console"), "key.json"),),
            then=one,
            done="created",
            command=f"key create {whose} --secret-file FILE",
            **shared,
        ),
        Action(
            path=f"{one}/keys/upload",
            operation=f"POST {keys}",
            title=_UPLOAD,
            button=message("Upload", context="console"),
            fields=(_PUBLIC, _EXPIRY),
            handler=KeyHandler,
            then=one,
            done="added",
            command=f"key create {whose} --public-key FILE",
            **shared,
        ),
        Action(
            path=f"{one}/keys/{{keyId}}/delete",
            operation=f"DELETE {keys}/{{keyId}}",
            title=message("Delete the key", context="console"),
            intro=message("It proves nothing from then on.", context="console"),
            button=_DELETE,
            is_dangerous=True,
            then=one,
            done="deleted",
            command=f"key remove {whose} {{keyId}}",
            **shared,
        ),
    )


async def part(
    page: ConsoleHandler, one: str, owner: str, ids: tuple[str, ...], *, may: bool
) -> dict[str, Any]:
    """Returns the template value of the owner's keys, a sub-list of the owner's page. `one` is the
    path of that page and `owner` that of the owner in the API, both with placeholders for `ids`.
    With `may`, there are links to add and delete keys."""
    sub_list = await turned(page, "keys", f"POST {owner}/keys/_search", *ids)
    path = f"{CONSOLE}{one}/keys"
    ways = [
        way(_PAIR, page.at(f"{path}/new", *ids)),
        way(_UPLOAD, page.at(f"{path}/upload", *ids)),
    ]
    return cells.part(
        message("Keys", context="console"),
        [message("Key id", context="console"), _UNTIL, _USED, *([_DELETE] if may else [])],
        [
            [
                cells.code(key["id"]),
                until(key["expirationDate"]),
                cells.instant(key.get("lastUsedAt")),
                *(
                    [cells.link(_DELETE, page.at(f"{path}/{{keyId}}/delete", *ids, key["id"]))]
                    if may
                    else []
                ),
            ]
            for key in sub_list.found
        ],
        message("There are no keys.", context="console"),
        ways if may else [],
        sub_list,
    )


def until(instant: str) -> Cell:
    """Returns a cell with the end of a key's validity, or with a text for a key that does not
    expire."""
    if instant.startswith("9999-"):
        return cells.text(message("until it is deleted", context="console"))
    return cells.instant(instant)
