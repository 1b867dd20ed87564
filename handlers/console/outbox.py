"""The console's outbox: the delivery status of messages, a test message, and retries."""

from __future__ import annotations

from typing import Final

from handlers.console.actions import Action, routes
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, cell, chip
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.i18n import message
from idp.mail import messages
from idp.management.instance.outbox import RETRIED

PATH: Final = "/mail"
_SECTION: Final = "mail"
_SEND_NOW: Final = message("Send now", context="outbox")
_STATES: Final = {
    "held": (message("captured", context="outbox"), None),
    "queued": (message("waiting", context="outbox"), None),
    "sending": (message("sending", context="outbox"), None),
    "sent": (message("sent", context="outbox"), "good"),
    "failed": (message("failed", context="outbox"), "danger"),
}
_SENDING_INTRO: Final = message(
    "Messages of the last seven days. You can resend those that failed.",
    context="outbox",
)
_CAPTURING_INTRO: Final = message(
    "No mail server is set up, so emails are captured for seven "
    "days. The operator can set smtp_host and smtp_from.",
    context="outbox",
)

ACTIONS: Final = (
    Action(
        path=f"{PATH}/test",
        section=_SECTION,
        operation=api.mail.TEST,
        title=message("Send a test email", context="outbox"),
        intro=message(
            "It is sent immediately, and you see the server's answer.", context="outbox"
        ),
        button=message("Send", context="outbox"),
        fields=(
            FormField(
                path="to",
                label=message("Email", context="outbox"),
                kind="email",
                autocomplete="email",
                direction="ltr",
                is_required=True,
                is_sent_empty=True,
            ),
        ),
        next_path=PATH,
        confirmation="sent",
        command="mail test ADDRESS",
    ),
    Action(
        path=f"{PATH}/{{mailId}}/retry",
        section=_SECTION,
        operation=api.mail.RETRY,
        title=message("Send this now?", context="outbox"),
        button=_SEND_NOW,
        next_path=PATH,
        confirmation="saved",
        command="mail retry {mailId}",
    ),
)


class OutboxHandler(ListHandler):
    """Lists the messages of the outbox, the newest first, without addresses and contents."""

    section = _SECTION
    operation = api.mail.SEARCH
    icon = "mail"
    title = message("Mail", context="outbox")
    newest_first = True
    is_everywhere = True
    command = "mail outbox"
    search = (
        FormField(
            path="state",
            label=message("State", context="console"),
            kind="choice",
            options=[
                ("", message("Everything", context="events")),
                *((name, label) for name, (label, _) in _STATES.items()),
            ],
        ),
    )
    columns = (
        message("When", context="events"),
        message("Message", context="outbox"),
        message("State", context="console"),
        message("Attempts", context="outbox"),
        message("Last answer", context="outbox"),
        message("User ID", context="outbox"),
        _SEND_NOW,
    )

    async def show(self, *ids: str) -> None:
        self.intro = _SENDING_INTRO if self.service.config.sends_mail else _CAPTURING_INTRO
        await super().show(*ids)

    def queries(self, values: Values) -> list[Document]:
        state = values["state"]
        return [{"stateQuery": {"state": state}}] if state else []

    def actions(self) -> list[Cell]:
        config = self.service.config
        is_owner = "iam.write" in self.console_session.rights.everywhere
        send_test = action_link(
            message("Send a test email", context="outbox"), self.url_of(f"{CONSOLE}{PATH}/test")
        )
        read_captured = action_link(
            message("Read captured email", context="outbox"), messages.PAGE
        )
        return ([send_test] if is_owner and config.sends_mail else []) + (
            [read_captured] if config.is_loopback else []
        )

    def row(self, mail: Document) -> list[Cell]:
        retry = cells.link(_SEND_NOW, self.url_of(f"{CONSOLE}{PATH}/{{mailId}}/retry", mail["id"]))
        may_change = (
            "iam.write" in self.console_session.rights.everywhere and mail["state"] in RETRIED
        )
        return [
            cells.instant(mail["creationDate"]),
            cells.code(mail["kind"]),
            cell(chip(_STATES, mail["state"]), "chip"),
            cells.text(str(mail["attempts"])),
            cells.text(mail.get("lastError")),
            cells.code(mail.get("userId")),
            retry if may_change and self.service.config.sends_mail else cells.text(None),
        ]


ROUTES = [*routes(ACTIONS), (CONSOLE + PATH, OutboxHandler)]
