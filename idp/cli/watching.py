"""Waits for a job, which any process may run, and ends the program with its outcome."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import click
import msgspec

from idp import api
from idp.cli import given_options, output
from idp.cli.backends import Backend
from idp.cli.document import Document
from idp.cli.output import Format
from idp.cli.progress import Progress
from idp.cli.running import show
from idp.cli.settings import STORE_OPTIONS
from idp.foundation.errors import Busy
from idp.start import exit_codes

JOB: Final = api.imports.READ_JOB
_ONGOING: Final = ("JOB_STATE_QUEUED", "JOB_STATE_RUNNING")
_ERRORS: Final = api.imports.JOB_ERRORS
_UNIT: Final = "rows"
_FIRST_PAUSE_SECONDS: Final = 0.05
_MAX_PAUSE_SECONDS: Final = 1.0
# Polls in a row that may fail, because a service may be restarted meanwhile.
_MAX_FAILURES: Final = 60
_PAGE_ROWS: Final = 1000
_EXIT_CODES: Final = {
    "JOB_STATE_SUCCEEDED": exit_codes.OK,
    "JOB_STATE_FINISHED_WITH_ERRORS": exit_codes.ROW_ERRORS,
    **dict.fromkeys(
        (*_ONGOING, "JOB_STATE_CANCELLED", "JOB_STATE_INTERRUPTED"), exit_codes.INTERRUPTED
    ),
}


class PrintOptions(msgspec.Struct, frozen=True):
    """The options by which an answer is printed: the format, or the dotted path of a single field
    (`get`)."""

    output_format: Format
    get: str | None


async def until_end(backend: Backend, job_id: str) -> Document:
    """Waits until the job has ended or the user presses Ctrl-C, shows the progress, and returns
    the latest state of the job.

    Raises NotFound, and Busy if the service was unreachable for too long.
    """
    interrupted = asyncio.get_running_loop().create_future()
    with interruptible(lambda: interrupted.set_result(None)):
        return await poll(backend, job_id, interrupted)


async def poll(backend: Backend, job_id: str, other: asyncio.Future[Any]) -> Document:
    """Polls the job until it has ended or the future `other` is done, shows the
    progress, and returns the latest state of the job.

    Raises NotFound, and Busy if the service was unreachable for too long.
    """
    failures, pause = 0, _FIRST_PAUSE_SECONDS
    with closing(Progress(_UNIT)) as progress:
        while True:
            is_last = other.done()
            try:
                job = await backend.call(JOB, [job_id])
            except Busy:
                failures += 1
                if failures > _MAX_FAILURES or is_last:
                    raise
            else:
                failures = 0
                progress.show(job.get("done", 0), job.get("total", 0))
                if is_last or job["state"] not in _ONGOING:
                    return job
            await asyncio.wait([other], timeout=pause)
            # The end of a short job is noticed soon, and a long one is polled rarely.
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block, the first Ctrl-C calls `stop`, and the second ends the program
    immediately."""
    loop, previous_handler = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)

    def on_interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        stop()

    loop.add_signal_handler(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, previous_handler)


@contextmanager
def immediately_interruptible() -> Iterator[None]:
    """Within the block, Ctrl-C ends the program immediately, even while other threads run."""
    previous_handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)


def end(job: Document, print_options: PrintOptions) -> NoReturn:
    """Prints the job and what the user can do next, and ends the program with the exit code of the
    job's outcome."""
    show(job, print_options.output_format, print_options.get, ())
    for line in _advice(job):
        output.say(line)
    raise SystemExit(_EXIT_CODES.get(job["state"], exit_codes.FAILED))


def _advice(job: Document) -> Iterator[str]:
    # The commands work on the same store or service as this one.
    names = (*STORE_OPTIONS, "url", "token_file", "org_id")
    options = given_options.options(click.get_current_context(), names)
    job_id, state = f"{job['id']} {options}".strip(), job["state"]
    if state in _ONGOING:
        yield f"the job continues: idp job watch {job_id}"
    elif state == "JOB_STATE_FAILED":
        yield f"the import failed: {job.get('reason', '')} ({job.get('slug', '')})"
    if job.get("failed"):
        yield f"{job['failed']} rows failed: idp job errors {job_id}"
    if job.get("resumedBy"):
        yield f"stopped; resume with: {job['resumedBy']} {options}".strip()


async def report(backend: Backend, job_id: str, file: Path) -> None:
    """Writes the errors and warnings of the job's rows into a file, one JSON document per line.

    The report contains personal data, so only its owner may read the file.
    """
    with output.private_file(file) as report_file:
        async for problem in _problems(backend, job_id):
            report_file.write(msgspec.json.encode(problem) + b"\n")


async def _problems(backend: Backend, job_id: str) -> AsyncIterator[Document]:
    query = {"limit": str(_PAGE_ROWS)}
    while True:
        page = await backend.call(_ERRORS, [job_id], query)
        for problem in page.get("result", []):
            yield problem
        if not page.get("nextCursor"):
            return
        query["cursor"] = page["nextCursor"]
