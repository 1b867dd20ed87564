"""Imports: how far each came, what was wrong with its rows, stopping one and going on."""

from __future__ import annotations

from typing import Any, Final

from handlers.console import cells, commands
from handlers.console.actions import Action, routes
from handlers.console.base import ConsoleHandler
from handlers.console.cells import Cell
from handlers.console.lists import PAGE, ListHandler, cell, chip, way
from handlers.console.running import BY_NAME, Document
from handlers.console.sections import CONSOLE
from idp.i18n import message

PATH: Final = "/jobs/imports"
_ONE: Final = f"{PATH}/{{jobId}}"
_SECTION: Final = "jobs"
_JOBS: Final = "/admin/v1/jobs"
_JOB: Final = f"{_JOBS}/{{jobId}}"
_STATES: Final = {
    "JOB_STATE_QUEUED": (message("waiting", context="outbox"), None),
    "JOB_STATE_RUNNING": (message("under way", context="outbox"), None),
    "JOB_STATE_SUCCEEDED": (message("done", context="imports"), "good"),
    "JOB_STATE_FINISHED_WITH_ERRORS": (message("done, with errors", context="imports"), "bad"),
    "JOB_STATE_FAILED": (message("failed", context="outbox"), "bad"),
    "JOB_STATE_CANCELLED": (message("stopped", context="imports"), "bad"),
}
_GOING_ON: Final = ("JOB_STATE_QUEUED", "JOB_STATE_RUNNING")
_RESUMED: Final = ("JOB_STATE_CANCELLED", "JOB_STATE_FAILED")
TITLE: Final = message("Imports", context="imports")
_STOP: Final = message("Stop", context="imports")
_GO_ON: Final = message("Go on with it", context="imports")
_PROGRESS: Final = message("Rows done", context="imports")
_NOTHING: Final = message("There is nothing here yet.", context="console")
_COUNTS: Final = {
    "created": message("Created", context="imports"),
    "updated": message("Changed", context="imports"),
    "skipped": message("Left alone", context="imports"),
    "failed": message("Refused", context="imports"),
}

ACTIONS: Final = (
    Action(
        path=f"{_ONE}/cancel",
        section=_SECTION,
        operation=f"POST {_JOB}/_cancel",
        title=message("Stop the import?", context="imports"),
        intro=message("What is stored stays, and it can be gone on with.", context="imports"),
        button=_STOP,
        is_dangerous=True,
        then=_ONE,
        done="saved",
        command="job cancel {jobId}",
    ),
    Action(
        path=f"{_ONE}/resume",
        section=_SECTION,
        operation=f"POST {_JOB}/_resume",
        title=message("Go on with the import?", context="imports"),
        button=_GO_ON,
        then=_ONE,
        done="saved",
        command="job resume {jobId}",
    ),
)


class ImportsHandler(ListHandler):
    """The imports of the last thirty days, the newest first."""

    section = _SECTION
    operation = f"POST {_JOBS}/_search"
    title = TITLE
    newest_first = True
    is_everywhere = True
    command = "job list"
    columns = (
        message("When", context="events"),
        message("State", context="console"),
        _PROGRESS,
        _COUNTS["failed"],
    )

    def row(self, found: Document) -> list[Cell]:
        when = str(cells.instant(found["creationDate"])["value"])
        return [
            cells.link(when, self.at(CONSOLE + _ONE, found["id"])),
            cell(chip(_STATES, found["state"]), "chip"),
            cells.text(_progress(found)),
            cells.text(str(found.get("failed", 0))),
        ]


class ImportHandler(ConsoleHandler):
    """One import, and a page of what was wrong with its rows."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        job = await self.run(f"GET {_JOB}", *ids)
        self.page(
            "console/show",
            title_text=TITLE,
            state=chip(_STATES, job["state"]),
            intro=None,
            facts=_facts(job),
            actions=self._ways(job),
            parts_of=[await self._problems(job)],
            commands=commands.shown(
                self.service.config, BY_NAME[f"GET {_JOB}"], ids, None, None, "job show {jobId}"
            ),
        )

    def _ways(self, job: Document) -> list[Cell]:
        state, id = job["state"], job["id"]
        again = way(message("Look again", context="imports"), self.at(CONSOLE + _ONE, id))
        stop = way(_STOP, self.at(f"{CONSOLE}{_ONE}/cancel", id), is_dangerous=True)
        go_on = way(_GO_ON, self.at(f"{CONSOLE}{_ONE}/resume", id))
        may = "iam.write" in self.visit.rights.everywhere
        return [
            *[again] * (state in _GOING_ON),
            *[stop] * (may and state in _GOING_ON),
            *[go_on] * (may and state in _RESUMED),
        ]

    async def _problems(self, job: Document) -> dict[str, Any]:
        cursor = self.query_params().get("problems")
        asked = {"limit": str(PAGE), **({"cursor": cursor} if cursor else {})}
        answer = await self.run(f"GET {_JOB}/errors", job["id"], document=asked)
        part = cells.part(
            message("Problems", context="imports"),
            [
                message("Row", context="imports"),
                message("Object", context="events"),
                message("What is wrong", context="imports"),
                message("Cure", context="imports"),
            ],
            [_problem(one) for one in answer.get("result", [])],
            _NOTHING,
        )
        here, after = CONSOLE + _ONE, answer.get("nextCursor")
        part["first_url"] = self.at(here, job["id"]) if cursor else None
        part["next_url"] = self.at(here, job["id"], problems=after) if after else None
        return part


def _facts(job: Document) -> list[dict[str, object]]:
    counts = [
        cells.fact(label, cells.text(str(job.get(name, 0)))) for name, label in _COUNTS.items()
    ]
    return [
        cells.fact(message("When", context="events"), cells.instant(job["creationDate"])),
        cells.fact(_PROGRESS, cells.text(_progress(job))),
        *counts,
    ]


def _progress(job: Document) -> str:
    return f"{job.get('done', 0)} / {job.get('total') or '–'}"


def _problem(found: Document) -> list[Cell]:
    told = f"{found['field']}: {found['message']}" if found.get("field") else found["message"]
    return [
        cells.code(f"{found['row']} {found['path']}"),
        cells.code(found.get("id")),
        cells.text(told),
        cells.text(found.get("fix")),
    ]


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, ImportsHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", ImportHandler),
]
