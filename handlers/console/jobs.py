"""What the installation does by itself, and when it is next."""

from __future__ import annotations

from typing import Final

from handlers.console import cells
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from idp import background
from idp.background import Turn
from idp.i18n import Message, message

_NAMES: Final = {
    "keys": message("Turns the signing keys, and removes old ones", context="jobs"),
    "leftovers": message("Removes what deleted things have left", context="jobs"),
    "deleted organizations": message(
        "Removes what deleted organizations have left", context="jobs"
    ),
    "logout messages": message("Tells applications that sessions have ended", context="jobs"),
}
_EVERY: Final = message("every %(n)s second", plural="every %(n)s seconds", context="jobs", n=1)
_COLUMNS: Final = (
    message("Work", context="jobs"),
    message("How often", context="jobs"),
    message("Next turn", context="jobs"),
)


class JobsHandler(ConsoleHandler):
    """The background work, whichever process does it."""

    section = "jobs"

    async def show(self, *ids: str) -> None:
        found = await background.turns(self.service)
        self.page(
            "console/list",
            title_text=message("Jobs", context="console"),
            intro=message(
                "This is done by one process at a time, and again soon where it failed.",
                context="jobs",
            ),
            search=None,
            columns=_COLUMNS,
            rows=[self._row(turn) for turn in found],
            total=None,
            empty=message("There is nothing here yet.", context="console"),
            first_url=None,
            next_url=None,
            actions=[],
            commands=[],
        )

    def _row(self, turn: Turn) -> list[cells.Cell]:
        seconds = max(1, round(turn.interval_seconds))
        every = Message(_EVERY.msgid, _EVERY.context, _EVERY.plural, {"n": seconds})
        due = turn.due_at
        at_once = message("at once", context="jobs")
        return [
            cells.text(_NAMES.get(turn.name, Message(turn.name))),
            cells.text(every),
            cells.instant(due.isoformat()) if due else cells.text(at_once),
        ]


ROUTES = [(f"{CONSOLE}/jobs", JobsHandler)]
