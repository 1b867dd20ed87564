"""The console's pages of imports: progress, problems of rows, cancelling and resuming."""

from __future__ import annotations

from typing import Any, Final

from handlers.console import commands, event_log
from handlers.console.actions import Action, routes
from handlers.console.base import ConsoleHandler
from handlers.console.lists import PAGE, ListHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells, problem_texts
from handlers.forms.cells import Cell, action_link, cell, chip
from handlers.forms.run_operation import BY_NAME, Document
from idp.error_catalogue import ERROR_CODES
from idp.foundation import durations
from idp.foundation.errors import FieldProblem
from idp.foundation.i18n import Message, message

PATH: Final = "/jobs/imports"
_ONE: Final = f"{PATH}/{{jobId}}"
_SECTION: Final = "jobs"
_JOBS: Final = "/admin/v1/jobs"
_JOB: Final = f"{_JOBS}/{{jobId}}"
_STATES: Final = {
    "JOB_STATE_QUEUED": (message("waiting", context="imports"), None),
    "JOB_STATE_RUNNING": (message("under way", context="imports"), None),
    "JOB_STATE_SUCCEEDED": (message("done", context="imports"), "good"),
    "JOB_STATE_FINISHED_WITH_ERRORS": (message("done, with errors", context="imports"), "bad"),
    "JOB_STATE_FAILED": (message("failed", context="imports"), "bad"),
    "JOB_STATE_CANCELLED": (message("stopped", context="imports"), "bad"),
    "JOB_STATE_INTERRUPTED": (message("cut off", context="imports"), "bad"),
}
_GOING_ON: Final = ("JOB_STATE_QUEUED", "JOB_STATE_RUNNING")
_CUT_OFF: Final = "JOB_STATE_INTERRUPTED"
_FOLLOW: Final = "follow"
_REFRESHED_SECONDS: Final = 5
TITLE: Final = message("Imports", context="imports")
_STOP: Final = message("Stop", context="imports")
_GO_ON: Final = message("Go on with it", context="imports")
_PROGRESS: Final = message("Rows done", context="imports")
_NOTHING: Final = message("There is nothing here yet.", context="console")
_HOW: Final = message("How", context="imports")
_OPTIONS: Final = {
    "dryRun": message("dry run", context="imports"),
    "update": message("changes what is there", context="imports"),
    "fix": message("mends slips", context="imports"),
}
_COUNTS: Final = {
    "created": message("Created", context="imports"),
    "updated": message("Changed", context="imports"),
    "skipped": message("Left alone", context="imports"),
    "failed": message("Refused", context="imports"),
    "warned": message("With a warning", context="imports"),
}
_REASONS: Final = {
    "internal": message("Something failed on the side of the service.", context="imports"),
    "import.not_started": message(
        "The process that was to work on it did not start; the service's log says why.",
        context="imports",
    ),
    "import.package_lost": message(
        "The package is not what it was, or not there any more.", context="imports"
    ),
}
_WHY: Final = message("Why it failed", context="imports")
_CURE: Final = message("Cure", context="imports")
_WAITS: Final = message(
    "It reads a file of some machine, and the program that worked on it is gone. It can be gone on"
    " with there.",
    context="imports",
)
_STOPS: Final = message("It stops when the rows are stored that it is at.", context="imports")
_REFRESHES: Final = message(
    "The page refreshes every %(n)s second.",
    plural="The page refreshes every %(n)s seconds.",
    context="imports",
    n=_REFRESHED_SECONDS,
)

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
    """Lists the imports of the last thirty days, the newest first."""

    section = _SECTION
    operation = f"POST {_JOBS}/_search"
    title = TITLE
    newest_first = True
    is_everywhere = True
    command = "job list"
    columns = (
        message("When", context="events"),
        message("State", context="console"),
        _HOW,
        _PROGRESS,
        _COUNTS["failed"],
    )

    def row(self, job: Document) -> list[Cell]:
        when = str(cells.instant(job["creationDate"])["value"])
        return [
            cells.link(when, self.at(CONSOLE + _ONE, job["id"])),
            cell(chip(_STATES, job["state"]), "chip"),
            _how(job),
            cells.text(_done(job)),
            cells.text(str(job.get("failed", 0))),
        ]


class ImportHandler(ConsoleHandler):
    """Shows one import, with a list of the problems of its rows.

    While the import runs, the page reloads itself if the address asks for it.
    """

    section = _SECTION

    async def show(self, *ids: str) -> None:
        job = await self.run(f"GET {_JOB}", *ids)
        is_followed = job["state"] in _GOING_ON and self.query_params().get(_FOLLOW) is not None
        if is_followed:
            self.set_header("Refresh", str(_REFRESHED_SECONDS))
        self.page(
            "console/show",
            title_text=TITLE,
            state=chip(_STATES, job["state"]),
            intro=_intro(job, is_followed=is_followed),
            facts=self._facts(job),
            actions=self._action_links(job, is_followed=is_followed),
            parts_of=[await self._problems(job)],
            commands=self._commands(job),
        )

    def _action_links(self, job: Document, *, is_followed: bool) -> list[Cell]:
        state, here = job["state"], (CONSOLE + _ONE, job["id"])
        label = message("Refresh automatically", context="imports")
        follow = action_link(label, self.at(*here, **{_FOLLOW: "on"}))
        if is_followed:
            follow = action_link(message("Stop refreshing", context="imports"), self.at(*here))
        again = action_link(message("Look again", context="imports"), self.at(*here))
        stop = action_link(_STOP, self.at(f"{CONSOLE}{_ONE}/cancel", job["id"]), is_dangerous=True)
        go_on = action_link(_GO_ON, self.at(f"{CONSOLE}{_ONE}/resume", job["id"]))
        may = "iam.write" in self.visit.rights.everywhere
        return [
            *([again] if state in _GOING_ON and not is_followed else []),
            *([follow] if state in _GOING_ON else []),
            *(
                [stop]
                if may and state in (*_GOING_ON, _CUT_OFF) and "isStopping" not in job
                else []
            ),
            *([go_on] if may and "resumedBy" in job and "source" not in job else []),
        ]

    def _facts(self, job: Document) -> list[dict[str, object]]:
        source, on = job.get("source"), job.get("resumedBy")
        return [
            *_failure(job),
            *_progress(job),
            *_counts(job),
            *([cells.fact(_HOW, _how(job))] if any(name in job for name in _OPTIONS) else []),
            cells.fact(message("Who", context="events"), self._actor(job)),
            cells.fact(message("When", context="events"), cells.instant(job["creationDate"])),
            *_end(job),
            *(
                [cells.fact(message("File", context="imports"), cells.code(source))]
                if source
                else []
            ),
            # Only the machine that has the file can resume it, so the command replaces the button.
            *([cells.fact(_GO_ON, cells.code(on))] if source and on else []),
        ]

    def _actor(self, job: Document) -> Cell:
        """Returns the user who started the import, with a link to that user's other events."""
        id = job["actor"]
        url = self.at(f"{event_log.PATH}/installation", editorUserId=id)
        return cells.link(str(job.get("actorName", id)), url)

    def _commands(self, job: Document) -> list[dict[str, object]]:
        operation = BY_NAME[f"GET {_JOB}"]
        lines = commands.rendered(
            self.service.config, operation, [job["id"]], None, None, "job show {jobId}"
        )
        can = "resumedBy" in job and "source" not in job
        return [*lines, *([{"label": _GO_ON, "line": job.get("resumedBy")}] if can else [])]

    async def _problems(self, job: Document) -> dict[str, Any]:
        cursor = self.query_params().get("problems")
        asked = {"limit": str(PAGE), **({"cursor": cursor} if cursor else {})}
        answer = await self.run(f"GET {_JOB}/errors", job["id"], document=asked)
        problems_list = cells.sub_list(
            message("Problems", context="imports"),
            [
                message("Row", context="imports"),
                message("Object", context="events"),
                message("What is wrong", context="imports"),
                _CURE,
            ],
            [_problem(one) for one in answer.get("result", [])],
            _NOTHING,
        )
        here, after = CONSOLE + _ONE, answer.get("nextCursor")
        problems_list["first_url"] = self.at(here, job["id"]) if cursor else None
        problems_list["next_url"] = self.at(here, job["id"], problems=after) if after else None
        return problems_list


def _intro(job: Document, *, is_followed: bool) -> Message | None:
    """Returns the most important sentence about the import's state, or None."""
    if job["state"] == _CUT_OFF:
        return _WAITS
    if "isStopping" in job:
        return _STOPS
    return _REFRESHES if is_followed else None


def _how(job: Document) -> Cell:
    """Returns the options of the import."""
    labels = [label for name, label in _OPTIONS.items() if job.get(name)]
    return cell(labels, "texts") if labels else cells.text(None)


def _failure(job: Document) -> list[dict[str, object]]:
    """Returns why the import failed as a whole, the place in the package, and the remedy."""
    if "slug" not in job:
        return []
    error_code, field = job["slug"], job.get("field", "")
    reason = job.get("reason", "").removeprefix(f"{field}: ")
    why = _REASONS.get(error_code) or problem_texts.problem(
        FieldProblem(error_code, field, reason), _WHY
    )
    where = cells.fact(message("Where", context="imports"), cells.code(field))
    cure = ERROR_CODES[error_code].cure if error_code in ERROR_CODES else None
    return [
        cells.fact(_WHY, cells.text(why)),
        *([where] if field else []),
        *([cells.fact(_CURE, cells.text(cure))] if cure else []),
    ]


def _progress(job: Document) -> list[dict[str, object]]:
    """Returns how many rows are done; of a running import also its speed and remaining time."""
    done = cells.text(_done(job))
    if job["state"] in _GOING_ON and "total" in job:
        done = cells.progress(_PROGRESS, job.get("done", 0), job["total"])
    return [cells.fact(_PROGRESS, done), *(_speed(job) if "rowsPerSecond" in job else [])]


def _speed(job: Document) -> list[dict[str, object]]:
    minutes, seconds = divmod(round(durations.parse(job["remainingTime"]).total_seconds()), 60)
    speed = job["rowsPerSecond"]
    rate = cells.text(f"{speed:.0f}" if speed >= 100 else f"{speed:.3g}")
    left = cell(f"{minutes // 60}:{minutes % 60:02}:{seconds:02}", "time")
    return [
        cells.fact(message("Rows a second", context="imports"), rate),
        cells.fact(message("Time left", context="imports"), left),
    ]


def _counts(job: Document) -> list[dict[str, object]]:
    return [
        cells.fact(label, cells.text(str(job.get(name, 0)))) for name, label in _COUNTS.items()
    ]


def _end(job: Document) -> list[dict[str, object]]:
    ended = cells.fact(message("Ended", context="imports"), cells.instant(job.get("finishDate")))
    return [ended] if "finishDate" in job else []


def _done(job: Document) -> str:
    return f"{job.get('done', 0)} / {job.get('total') or '–'}"


def _problem(problem: Document) -> list[Cell]:
    return [
        cells.code(f"{problem['row']} {problem['path']}"),
        cells.code(problem.get("id")),
        cells.text(problem["message"]),
        cells.text(problem.get("fix")),
    ]


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, ImportsHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", ImportHandler),
]
