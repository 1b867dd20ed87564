"""The public keys of applications and service users: a sub-list and its forms."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any, Final

from handlers.console.actions import Action, ActionHandler, DisplayedOnce
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp.api.operation import Operation
from idp.credentials import expirations
from idp.foundation.i18n import message

_GENERATE: Final = message("Generate key pair", context="console")
_UPLOAD: Final = message("Upload a public key", context="console")
_DELETE: Final = message("Delete", context="console")
_UNTIL: Final = message("Valid until", context="console")
_USED: Final = message("Last used", context="console")
_EXPIRY: Final = FormField(
    path="expirationDate",
    label=_UNTIL,
    hint=message(
        "A date such as 2030-12-31. Empty: the longest time that the installation allows.",
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


def with_exact_expiry(document: Document, latest: datetime) -> Document:
    """Returns the document with `expirationDate`, if it is a plain date, replaced by the end of
    that day.

    On the day of `latest`, the latest allowed expiration, it is replaced by `latest`.
    """
    date = document.get("expirationDate", "")
    if len(date) != len("2030-12-31"):
        return document
    is_last_day = date == f"{latest:%Y-%m-%d}"
    expires_at = latest.isoformat() if is_last_day else f"{date}T23:59:59Z"
    return {**document, "expirationDate": expires_at}


class KeyHandler(ActionHandler):
    """Generates a key pair or registers a public key in PEM, with an expiration date."""

    def request_body(self, values: Values) -> Document:
        config = self.service.config
        latest = expirations.latest(self.service.clock.now(), config.key_max_days)
        document = with_exact_expiry(super().request_body(values), latest)
        if "publicKey" in document:
            document["publicKey"] = base64.b64encode(
                document["publicKey"].strip().encode()
            ).decode()
        return document


_KEY_FILE_INTRO: Final = message(
    "The private key is shown once, as a file for client libraries.", context="console"
)


def actions(
    page_path: str, creation: Operation, removal: Operation, options: str, **fields: Any
) -> tuple[Action, ...]:
    """Returns the actions for an owner's keys. `page_path` is that of the owner's page, `options`
    the part of a command line that names the owner, `fields` are further fields of each action."""
    fields = {"next_path": page_path, **fields}
    return (
        Action(
            path=f"{page_path}/keys/new",
            operation=creation,
            title=_GENERATE,
            intro=_KEY_FILE_INTRO,
            button=_GENERATE,
            fields=(_EXPIRY,),
            handler=KeyHandler,
            shows=(
                DisplayedOnce("keyDetails", message("Key file", context="console"), "key.json"),
            ),
            confirmation="created",
            command=f"key create {options} --secret-file FILE",
            **fields,
        ),
        Action(
            path=f"{page_path}/keys/upload",
            operation=creation,
            title=_UPLOAD,
            button=message("Upload", context="console"),
            fields=(_PUBLIC, _EXPIRY),
            handler=KeyHandler,
            confirmation="added",
            command=f"key create {options} --public-key FILE",
            **fields,
        ),
        Action(
            path=f"{page_path}/keys/{{keyId}}/delete",
            operation=removal,
            title=message("Delete the key", context="console"),
            intro=message("It stops working immediately.", context="console"),
            button=_DELETE,
            is_dangerous=True,
            confirmation="deleted",
            command=f"key remove {options} {{keyId}}",
            **fields,
        ),
    )


async def sub_list(
    page: ConsoleHandler,
    page_path: str,
    search: Operation,
    ids: tuple[str, ...],
    *,
    may_change: bool,
) -> dict[str, Any]:
    """Returns the template value of the owner's keys, a sub-list of the owner's page. `page_path`
    is the path of that page, with placeholders for `ids`. With `may_change`, there are
    links to add and delete keys."""
    list_page = await fetch_page(page, "keys", search, *ids)
    path = f"{CONSOLE}{page_path}/keys"
    links = [
        action_link(_GENERATE, page.url_of(f"{path}/new", *ids)),
        action_link(_UPLOAD, page.url_of(f"{path}/upload", *ids)),
    ]
    return cells.sub_list(
        message("Keys", context="console"),
        [message("Key ID", context="console"), _UNTIL, _USED, *([_DELETE] if may_change else [])],
        [
            [
                cells.code(key["id"]),
                expiry_cell(key["expirationDate"]),
                cells.instant(key.get("lastUsedAt")),
                *(
                    [cells.link(_DELETE, page.url_of(f"{path}/{{keyId}}/delete", *ids, key["id"]))]
                    if may_change
                    else []
                ),
            ]
            for key in list_page.records
        ],
        message("There are no keys.", context="console"),
        links if may_change else [],
        list_page,
    )


def expiry_cell(instant: str) -> Cell:
    """Returns a cell with the end of a key's validity, or with a text for a key that does not
    expire."""
    if instant.startswith("9999-"):
        return cells.text(message("until it is deleted", context="console"))
    return cells.instant(instant)
