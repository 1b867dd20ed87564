"""The client secrets of applications and service users: a sub-list, and the form for a new one."""

from __future__ import annotations

from typing import Any, Final

from handlers.console.actions import Action
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from idp.api.operation import Operation
from idp.foundation.i18n import message

_END: Final = message("Revoke now", context="applications")
_EXPIRY: Final = "expirationDate"  # only a secret that was replaced has this member
_COLUMNS: Final = (
    message("Created", context="console"),
    message("Last used", context="console"),
    message("Valid until", context="console"),
)

NEW_SECRET: Final[dict[str, Any]] = {
    "title": message("New secret", context="applications"),
    "button": message("Generate a new secret", context="applications"),
    "intro": message(
        "The old secret stays valid for the time that you enter, so that the "
        "application keeps working. Tokens stay valid.",
        context="applications",
    ),
    "fields": (
        FormField(
            path="overlap",
            label=message("How long both secrets are valid", context="applications"),
            hint=message(
                "For example, 24h; at most 168h. 0s revokes the old secret immediately.",
                context="applications",
            ),
            default="24h",
            direction="ltr",
        ),
    ),
    "confirmation": "created",
}


def end_action(page_path: str, operation: Operation, command: str, **action_fields: Any) -> Action:
    """Returns the action of the page that ends the old secret of an application or service user.
    `page_path` is the path of the owner's page; `command` is the equivalent command line, and
    `action_fields` are further fields of the `Action`, such as `section`."""
    return Action(
        path=f"{page_path}/secrets/{{secretId}}/delete",
        operation=operation,
        title=message("Revoke the old secret", context="applications"),
        button=_END,
        intro=message("It stops working immediately. Tokens stay valid.", context="applications"),
        is_dangerous=True,
        confirmation="ended",
        command=command,
        **{"next_path": page_path, **action_fields},
    )


async def sub_lists(
    page: ConsoleHandler,
    page_path: str,
    operation: Operation,
    ids: tuple[str, ...],
    *,
    may_change: bool,
) -> list[dict[str, Any]]:
    """Returns a list with the sub-list of the owner's valid secrets as its only item; an empty
    list if there are no secrets.

    The valid secrets are the current one, and during an overlap the old one. `page_path` is the
    path of the owner's page, with placeholders for `ids`, and `operation` lists the
    secrets. With `may_change`, the old secret has a link to end it.
    """
    secrets = (await page.run(operation, *ids)).get("result", [])
    if not secrets:
        return []
    title = message("Secrets", context="applications")
    path = f"{CONSOLE}{page_path}/secrets/{{secretId}}/delete"
    rows = [
        [
            cells.instant(secret.get("creationDate")),
            cells.instant(secret.get("lastUsedAt")),
            cells.instant(secret.get(_EXPIRY)),
            *([_action_link(secret, page.url_of(path, *ids, secret["id"]))] if may_change else []),
        ]
        for secret in secrets
    ]
    return [cells.sub_list(title, [*_COLUMNS, *([_END] if may_change else [])], rows, title)]


def _action_link(secret: Document, url: str) -> Cell:
    return cells.link(_END, url) if secret.get(_EXPIRY) else cells.text(None)
