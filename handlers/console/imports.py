"""The console's pages of imports: progress, problems of rows, cancelling and resuming."""

from __future__ import annotations

from typing import Any, Final

from handlers.console.actions import Action, routes
from handlers.console.base import ConsoleHandler
from handlers.console.events import log as event_log
from handlers.console.lists import PAGE, ListHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, cell, chip
from handlers.forms.run_operation import Document
from idp import api
from idp.error_catalogue import ERROR_CODES
from idp.foundation import durations
from idp.foundation.i18n import Message, message

PATH: Final = "/jobs/imports"
_PAGE_PATH: Final = f"{PATH}/{{jobId}}"
_SECTION: Final = "jobs"
_STATES: Final = {
    "JOB_STATE_QUEUED": (message("waiting", context="imports"), None),
    "JOB_STATE_RUNNING": (message("running", context="imports"), None),
    "JOB_STATE_SUCCEEDED": (message("completed", context="imports"), "good"),
    "JOB_STATE_FINISHED_WITH_ERRORS": (
        message("completed with errors", context="imports"),
        "warning",
    ),
    "JOB_STATE_FAILED": (message("failed", context="imports"), "danger"),
    "JOB_STATE_CANCELLED": (message("canceled", context="imports"), "danger"),
    "JOB_STATE_INTERRUPTED": (message("interrupted", context="imports"), "danger"),
}
_UNFINISHED: Final = ("JOB_STATE_QUEUED", "JOB_STATE_RUNNING")
_INTERRUPTED: Final = "JOB_STATE_INTERRUPTED"
_FOLLOW: Final = "follow"
_REFRESH_SECONDS: Final = 5
TITLE: Final = message("Imports", context="imports")
_CANCEL: Final = message("Cancel", context="imports")
_RESUME: Final = message("Resume", context="imports")
_PROGRESS: Final = message("Rows processed", context="imports")
_NOTHING: Final = message("There is nothing here yet.", context="console")
_OPTIONS_TITLE: Final = message("Options", context="imports")
_OPTIONS: Final = {
    "dryRun": message("dry run", context="imports"),
    "update": message("updates existing records", context="imports"),
    "fix": message("fixes small errors", context="imports"),
}
_COUNTS: Final = {
    "created": message("Created", context="imports"),
    "updated": message("Changed", context="imports"),
    "skipped": message("Unchanged", context="imports"),
    "failed": message("Refused", context="imports"),
    "warned": message("With warnings", context="imports"),
}
_REASONS: Final = {
    "internal": message("The service had an internal error.", context="imports"),
    "import.not_started": message(
        "The worker process did not start. See the service's log for the cause.",
        context="imports",
    ),
    "import.package_lost": message(
        "The package has changed or no longer exists.", context="imports"
    ),
}
_REASON: Final = message("Why it failed", context="imports")
_FIX: Final = message("How to fix it", context="imports")
_WAITS_FOR_PROGRAM: Final = message(
    "The import reads a local file, and the program reading it has ended. "
    "Resume the import on the machine with the file.",
    context="imports",
)
_STOPS: Final = message("It stops as soon as the current rows are stored.", context="imports")
_REFRESHES: Final = message(
    "The page refreshes every %(n)s second.",
    plural="The page refreshes every %(n)s seconds.",
    context="imports",
    n=_REFRESH_SECONDS,
)

ACTIONS: Final = (
    Action(
        path=f"{_PAGE_PATH}/cancel",
        section=_SECTION,
        operation=api.imports.CANCEL_JOB,
        title=message("Cancel the import?", context="imports"),
        intro=message(
            "Rows already stored are kept. You can resume the import.", context="imports"
        ),
        button=_CANCEL,
        is_dangerous=True,
        next_path=_PAGE_PATH,
        confirmation="saved",
        command="job cancel {jobId}",
    ),
    Action(
        path=f"{_PAGE_PATH}/resume",
        section=_SECTION,
        operation=api.imports.RESUME_JOB,
        title=message("Resume the import?", context="imports"),
        button=_RESUME,
        next_path=_PAGE_PATH,
        confirmation="saved",
        command="job resume {jobId}",
    ),
)


class ImportsHandler(ListHandler):
    """Lists the imports of the last thirty days, the newest first."""

    section = _SECTION
    operation = api.imports.SEARCH_JOBS
    icon = "upload"
    title = TITLE
    newest_first = True
    is_everywhere = True
    command = "job list"
    columns = (
        message("When", context="events"),
        message("State", context="console"),
        _OPTIONS_TITLE,
        _PROGRESS,
        _COUNTS["failed"],
    )

    def row(self, job: Document) -> list[Cell]:
        return [
            cells.instant(job["creationDate"], self.url_of(CONSOLE + _PAGE_PATH, job["id"])),
            cell(chip(_STATES, job["state"]), "chip"),
            _options(job),
            cells.text(_progress_text(job)),
            cells.text(str(job.get("failed", 0))),
        ]


class ImportHandler(ConsoleHandler):
    """Shows one import, with a list of the problems of its rows.

    While the import runs, the page reloads itself if the address asks for it.
    """

    section = _SECTION

    async def show(self, *ids: str) -> None:
        job = await self.run(api.imports.READ_JOB, *ids)
        is_followed = job["state"] in _UNFINISHED and self.query_params().get(_FOLLOW) is not None
        if is_followed:
            self.set_header("Refresh", str(_REFRESH_SECONDS))
        self.object_page(
            TITLE,
            state=chip(_STATES, job["state"]),
            intro=_intro(job, is_followed=is_followed),
            properties=self._properties(job),
            actions=self._action_links(job, is_followed=is_followed),
            page_parts=[await self._problems(job)],
            commands=self._commands(job),
        )

    def _action_links(self, job: Document, *, is_followed: bool) -> list[Cell]:
        state, page = job["state"], (CONSOLE + _PAGE_PATH, job["id"])
        label = message("Refresh automatically", context="imports")
        follow = action_link(label, self.url_of(*page, **{_FOLLOW: "on"}))
        if is_followed:
            follow = action_link(message("Stop refreshing", context="imports"), self.url_of(*page))
        refresh = action_link(message("Refresh", context="imports"), self.url_of(*page))
        cancel = action_link(
            _CANCEL, self.url_of(f"{CONSOLE}{_PAGE_PATH}/cancel", job["id"]), is_dangerous=True
        )
        resume = action_link(_RESUME, self.url_of(f"{CONSOLE}{_PAGE_PATH}/resume", job["id"]))
        may_change = "iam.write" in self.console_session.rights.everywhere
        return [
            *([refresh] if state in _UNFINISHED and not is_followed else []),
            *([follow] if state in _UNFINISHED else []),
            *(
                [cancel]
                if may_change and state in (*_UNFINISHED, _INTERRUPTED) and "isStopping" not in job
                else []
            ),
            *([resume] if may_change and "resumedBy" in job and "source" not in job else []),
        ]

    def _properties(self, job: Document) -> list[dict[str, object]]:
        source, command = job.get("source"), job.get("resumedBy")
        return [
            *_failure(job),
            *_progress(job),
            *_counts(job),
            *(
                [cells.labelled_cell(_OPTIONS_TITLE, _options(job))]
                if any(name in job for name in _OPTIONS)
                else []
            ),
            cells.labelled_cell(message("Who", context="events"), self._actor(job)),
            cells.labelled_cell(
                message("When", context="events"), cells.instant(job["creationDate"])
            ),
            *_end_property(job),
            *(
                [cells.labelled_cell(message("File", context="imports"), cells.code(source))]
                if source
                else []
            ),
            # Only the machine that has the file can resume it, so the command replaces the button.
            *([cells.labelled_cell(_RESUME, cells.code(command))] if source and command else []),
        ]

    def _actor(self, job: Document) -> Cell:
        """Returns the user who started the import, with a link to that user's other events."""
        actor_id = job["actor"]
        url = self.url_of(f"{event_log.PATH}/installation", editorUserId=actor_id)
        return cells.link(str(job.get("actorName", actor_id)), url)

    def _commands(self, job: Document) -> list[dict[str, object]]:
        lines = self.shell(api.imports.READ_JOB, [job["id"]], "job show {jobId}")
        is_resumable = "resumedBy" in job and "source" not in job
        return [
            *lines,
            *([{"label": _RESUME, "line": job.get("resumedBy")}] if is_resumable else []),
        ]

    async def _problems(self, job: Document) -> dict[str, Any]:
        cursor = self.query_params().get("problems")
        query = {"limit": str(PAGE), **({"cursor": cursor} if cursor else {})}
        answer = await self.run(api.imports.JOB_ERRORS, job["id"], document=query)
        problems_list = cells.sub_list(
            message("Problems", context="imports"),
            [
                message("Row", context="imports"),
                message("Object", context="events"),
                message("Problem", context="imports"),
                _FIX,
            ],
            [_problem(problem) for problem in answer.get("result", [])],
            _NOTHING,
        )
        path, next_cursor = CONSOLE + _PAGE_PATH, answer.get("nextCursor")
        problems_list["first_url"] = self.url_of(path, job["id"]) if cursor else None
        problems_list["next_url"] = (
            self.url_of(path, job["id"], problems=next_cursor) if next_cursor else None
        )
        return problems_list


def _intro(job: Document, *, is_followed: bool) -> Message | None:
    """Returns the most important sentence about the import's state, or None."""
    if job["state"] == _INTERRUPTED:
        return _WAITS_FOR_PROGRAM
    if "isStopping" in job:
        return _STOPS
    return _REFRESHES if is_followed else None


def _options(job: Document) -> Cell:
    """Returns the options of the import."""
    labels = [label for name, label in _OPTIONS.items() if job.get(name)]
    return cell(labels, "texts") if labels else cells.text(None)


def _failure(job: Document) -> list[dict[str, object]]:
    """Returns why the import failed as a whole, the place in the package, and how to fix it."""
    if "slug" not in job:
        return []
    error_code, field = job["slug"], job.get("field", "")
    reason = job.get("reason", "").removeprefix(f"{field}: ")
    field_property = cells.labelled_cell(message("Where", context="imports"), cells.code(field))
    fix = ERROR_CODES[error_code].text if error_code in ERROR_CODES else None
    return [
        cells.labelled_cell(_REASON, cells.text(_REASONS.get(error_code) or reason)),
        *([field_property] if field else []),
        *([cells.labelled_cell(_FIX, cells.text(fix))] if fix else []),
    ]


def _progress(job: Document) -> list[dict[str, object]]:
    """Returns how many rows are processed; of a running import also its speed and remaining
    time."""
    progress = cells.text(_progress_text(job))
    if job["state"] in _UNFINISHED and "total" in job:
        progress = cells.progress(_PROGRESS, job.get("done", 0), job["total"])
    return [
        cells.labelled_cell(_PROGRESS, progress),
        *(_speed(job) if "rowsPerSecond" in job else []),
    ]


def _speed(job: Document) -> list[dict[str, object]]:
    minutes, seconds = divmod(round(durations.parse(job["remainingTime"]).total_seconds()), 60)
    speed = job["rowsPerSecond"]
    rate = cells.text(f"{speed:.0f}" if speed >= 100 else f"{speed:.3g}")
    remaining = cells.text(f"{minutes // 60}:{minutes % 60:02}:{seconds:02}")
    return [
        cells.labelled_cell(message("Rows per second", context="imports"), rate),
        cells.labelled_cell(message("Time left", context="imports"), remaining),
    ]


def _counts(job: Document) -> list[dict[str, object]]:
    return [
        cells.labelled_cell(label, cells.text(str(job.get(name, 0))))
        for name, label in _COUNTS.items()
    ]


def _end_property(job: Document) -> list[dict[str, object]]:
    ended = cells.labelled_cell(
        message("Ended", context="imports"), cells.instant(job.get("finishDate"))
    )
    return [ended] if "finishDate" in job else []


def _progress_text(job: Document) -> str:
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
