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
from idp.foundation.i18n import message
from idp.mail import messages
from idp.management.instance.outbox import RETRIED

PATH: Final = "/mail"
_MAIL: Final = "/admin/v1/mail"
_SECTION: Final = "mail"
_SEND_NOW: Final = message("Send now", context="outbox")
_STATES: Final = {
    "held": (message("held", context="outbox"), None),
    "queued": (message("waiting", context="outbox"), None),
    "sending": (message("under way", context="outbox"), None),
    "sent": (message("sent", context="outbox"), "good"),
    "failed": (message("failed", context="outbox"), "bad"),
}
_ON: Final = message(
    "What was sent to people in the last seven days. What failed can be sent again.",
    context="outbox",
)
_OFF: Final = message(
    "No mail server is set up here, so mail is held for seven days. Whoever runs the service can"
    " set smtp_host and smtp_from.",
    context="outbox",
)

ACTIONS: Final = (
    Action(
        path=f"{PATH}/test",
        section=_SECTION,
        operation=f"POST {_MAIL}/_test",
        title=message("Send a test", context="outbox"),
        intro=message("It is sent at once, and you see what the server says.", context="outbox"),
        button=message("Send", context="outbox"),
        fields=(
            FormField(
                path="to",
                label=message("E-mail address", context="outbox"),
                kind="email",
                autocomplete="email",
                direction="ltr",
                is_required=True,
                is_sent_empty=True,
            ),
        ),
        then=PATH,
        done="sent",
        command="mail test ADDRESS",
    ),
    Action(
        path=f"{PATH}/{{mailId}}/retry",
        section=_SECTION,
        operation=f"POST {_MAIL}/{{mailId}}/_retry",
        title=message("Send this now?", context="outbox"),
        button=_SEND_NOW,
        then=PATH,
        done="saved",
        command="mail retry {mailId}",
    ),
)


class OutboxHandler(ListHandler):
    """Lists the messages of the outbox, the newest first, without addresses and contents."""

    section = _SECTION
    operation = f"POST {_MAIL}/_search"
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
        message("Letter", context="outbox"),
        message("State", context="console"),
        message("Attempts", context="outbox"),
        message("Last answer", context="outbox"),
        message("User id", context="outbox"),
        _SEND_NOW,
    )

    async def show(self, *ids: str) -> None:
        self.intro = _ON if self.service.config.sends_mail else _OFF
        await super().show(*ids)

    def queries(self, values: Values) -> list[Document]:
        state = values["state"]
        return [{"stateQuery": {"state": state}}] if state else []

    def actions(self) -> list[Cell]:
        config = self.service.config
        is_owner = "iam.write" in self.visit.rights.everywhere
        test = action_link(
            message("Send a test", context="outbox"), self.at(f"{CONSOLE}{PATH}/test")
        )
        held = action_link(message("Read held mail", context="outbox"), messages.PAGE)
        return ([test] if is_owner and config.sends_mail else []) + (
            [held] if config.is_loopback else []
        )

    def row(self, sending: Document) -> list[Cell]:
        retry = cells.link(_SEND_NOW, self.at(f"{CONSOLE}{PATH}/{{mailId}}/retry", sending["id"]))
        may = "iam.write" in self.visit.rights.everywhere and sending["state"] in RETRIED
        return [
            cells.instant(sending["creationDate"]),
            cells.code(sending["kind"]),
            cell(chip(_STATES, sending["state"]), "chip"),
            cells.text(str(sending["attempts"])),
            cells.text(sending.get("lastError")),
            cells.code(sending.get("userId")),
            retry if may and self.service.config.sends_mail else cells.text(None),
        ]


ROUTES = [*routes(ACTIONS), (CONSOLE + PATH, OutboxHandler)]
