"""The console's page of scheduled tasks, with the time of each next run."""

from __future__ import annotations

from typing import Final

from handlers.console import commands, imports
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import action_link
from handlers.forms.run_operation import BY_NAME, Document
from idp.foundation import durations
from idp.foundation.i18n import Message, message

_NAMES: Final = {
    "keys": message("Turns the signing keys, and removes old ones", context="jobs"),
    "leftovers": message("Removes what deleted things have left", context="jobs"),
    "deleted organizations": message(
        "Removes what deleted organizations have left", context="jobs"
    ),
    "outbox": message("Sends mail and text messages", context="jobs"),
    "imports": message("Removes what ended imports have left", context="jobs"),
    "audit seal": message("Numbers and seals the events of the audit log", context="jobs"),
    "audit upkeep": message("Looks after the audit log", context="jobs"),
    "logout messages": message("Tells applications that sessions have ended", context="jobs"),
}
_LIST: Final = "GET /admin/v1/background"
_EVERY: Final = message("every %(n)s second", plural="every %(n)s seconds", context="jobs", n=1)
_COLUMNS: Final = (
    message("Work", context="jobs"),
    message("How often", context="jobs"),
    message("Next turn", context="jobs"),
)


class JobsHandler(ConsoleHandler):
    """Lists the tasks of the schedule, which any process of the installation may run."""

    section = "jobs"

    async def show(self, *ids: str) -> None:
        answer = await self.run(_LIST)
        self.page(
            "console/list",
            title_text=message("Jobs", context="console"),
            intro=message(
                "This is done by one process at a time, and again soon where it failed.",
                context="jobs",
            ),
            search=None,
            columns=_COLUMNS,
            rows=[_row(job) for job in answer["result"]],
            total=None,
            empty=message("There is nothing here yet.", context="console"),
            first_url=None,
            next_url=None,
            actions=[action_link(imports.TITLE, self.at(CONSOLE + imports.PATH))],
            commands=commands.rendered(
                self.service.config, BY_NAME[_LIST], [], None, None, "background list"
            ),
        )


def _row(job: Document) -> list[cells.Cell]:
    seconds = round(durations.parse(job["interval"]).total_seconds())
    every = Message(_EVERY.msgid, _EVERY.context, _EVERY.plural, {"n": seconds})
    due, at_once = job.get("nextTurn"), message("at once", context="jobs")
    return [
        cells.text(_NAMES.get(job["name"], Message(job["name"]))),
        cells.text(every),
        cells.instant(due) if due else cells.text(at_once),
    ]


ROUTES = [(f"{CONSOLE}/jobs", JobsHandler)]
