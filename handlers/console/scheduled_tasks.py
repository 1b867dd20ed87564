"""The console's page of scheduled tasks, with the time of each next run."""

from __future__ import annotations

from typing import Final

from handlers.console import imports
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import action_link
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation import durations
from idp.foundation.i18n import Message, message

_NAMES: Final = {
    "keys": message("Rotates the signing keys and removes old ones", context="jobs"),
    "master key": message("Replaces the master key", context="jobs"),
    "leftovers": message("Removes data of deleted objects", context="jobs"),
    "deleted organizations": message("Removes data of deleted organizations", context="jobs"),
    "outbox": message("Sends emails and text messages", context="jobs"),
    "imports": message("Removes data of ended imports", context="jobs"),
    "audit seal": message("Numbers and seals the events of the audit log", context="jobs"),
    "audit upkeep": message("Maintains the audit log", context="jobs"),
    "logout messages": message("Notifies applications of ended sessions", context="jobs"),
    "usage": message("Stores figures of sign-ins over time", context="jobs"),
}
_INTERVAL: Final = message("every %(n)s second", plural="every %(n)s seconds", context="jobs", n=1)
_COLUMNS: Final = (
    message("Task", context="jobs"),
    message("How often", context="jobs"),
    message("Next run", context="jobs"),
)


class JobsHandler(ConsoleHandler):
    """Lists the tasks of the schedule, which any process of the installation may run."""

    section = "jobs"

    async def show(self, *ids: str) -> None:
        answer = await self.run(api.instance.BACKGROUND_TASKS)
        self.whole_list(
            title_text=message("Jobs", context="console"),
            intro=message(
                "One process at a time runs each task. A failed task is soon retried.",
                context="jobs",
            ),
            columns=_COLUMNS,
            rows=[_row(task) for task in answer["result"]],
            empty_icon="clock",
            actions=[action_link(imports.TITLE, self.url_of(CONSOLE + imports.PATH))],
            commands=self.shell(api.instance.BACKGROUND_TASKS, [], "background list"),
        )


def _row(task: Document) -> list[cells.Cell]:
    seconds = round(durations.parse(task["interval"]).total_seconds())
    interval = Message(_INTERVAL.msgid, _INTERVAL.context, _INTERVAL.plural, {"n": seconds})
    next_run, now = task.get("nextTurn"), message("now", context="jobs")
    return [
        cells.text(_NAMES.get(task["name"], Message(task["name"]))),
        cells.text(interval),
        cells.instant(next_run) if next_run else cells.text(now),
    ]


ROUTES = [(f"{CONSOLE}/jobs", JobsHandler)]
