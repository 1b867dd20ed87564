"""`idp mail`: test messages, the outbox and retries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from idp import api
from idp.cli.building import group
from idp.cli.command import HIDDEN, Command
from idp.cli.document import Document


def _to_address(given_values: Document, option_values: Mapping[str, Any]) -> tuple[str, Document]:
    return "", {"to": option_values["address"]}


mail = group(
    "mail",
    "Emails and text messages.",
    [
        Command(
            "test",
            api.mail.TEST,
            "idp mail test ada@example.com",
            names={"to": HIDDEN},
            extra=(click.Argument(["address"]),),
            adapt=_to_address,
            summary="Send a test email immediately, and print the mail server's answer.",
        ),
        Command(
            "outbox",
            api.mail.SEARCH,
            "idp mail outbox --state failed",
            columns=("id", "kind", "state", "attempts", "creationDate", "lastError"),
            summary="List the messages of the last seven days: waiting, sent, failed or held.",
        ),
        Command(
            "retry",
            api.mail.RETRY,
            "idp mail retry 0198c0de-0000-7000-8000-000000000000",
            summary="Send a message now that failed, waits for its next attempt, or was held.",
        ),
    ],
)
