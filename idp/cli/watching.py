"""Waits for a job, whichever process runs it, and ends the program with its outcome."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec

from idp.cli import output
from idp.cli.backends import Backend
from idp.cli.command import BY_ADDRESS
from idp.cli.document import Document
from idp.cli.output import Format
from idp.cli.progress import Progress
from idp.cli.running import show
from idp.foundation.errors import Busy
from idp.start import exit_codes

JOB: Final = BY_ADDRESS["GET /admin/v1/jobs/{jobId}"]
_GOING_ON: Final = ("JOB_STATE_QUEUED", "JOB_STATE_RUNNING")
_ERRORS: Final = BY_ADDRESS["GET /admin/v1/jobs/{jobId}/errors"]
_UNIT: Final = "rows"
_LOOKS_FIRST_SECONDS: Final = 0.05
_LOOKS_LAST_SECONDS: Final = 1.0
_PATIENCE: Final = 60  # polls in a row that may fail, because a service may be restarted meanwhile
_PAGE: Final = 1000
_CODES: Final = {
    "JOB_STATE_SUCCEEDED": exit_codes.OK,
    "JOB_STATE_FINISHED_WITH_ERRORS": exit_codes.ROW_ERRORS,
    **dict.fromkeys(
        (*_GOING_ON, "JOB_STATE_CANCELLED", "JOB_STATE_INTERRUPTED"), exit_codes.INTERRUPTED
    ),
}


class Shown(msgspec.Struct, frozen=True):
    """How an answer is printed: the format, or a single field."""

    how: Format
    get: str | None


async def until_end(backend: Backend, job_id: str) -> Document:
    """Returns the job when it has ended, or its current state after Ctrl-C.

    Raises NotFound, and Busy if the service was unreachable for long.
    """
    enough = asyncio.get_running_loop().create_future()
    with interruptible(lambda: enough.set_result(None)):
        return await beside(backend, job_id, enough)


async def beside(backend: Backend, job_id: str, other: asyncio.Future[Any]) -> Document:
    """Polls the job and shows its progress until it has ended or `other` is done.

    Raises NotFound, Busy.
    """
    failures, pause = 0, _LOOKS_FIRST_SECONDS
    with closing(Progress(_UNIT)) as progress:
        while True:
            is_enough = other.done()
            try:
                job = await backend.call(JOB, [job_id])
            except Busy:
                failures += 1
                if failures > _PATIENCE or is_enough:
                    raise
            else:
                failures = 0
                progress.show(job.get("done", 0), job.get("total", 0))
                if is_enough or job["state"] not in _GOING_ON:
                    return job
            await asyncio.wait([other], timeout=pause)
            # A short job is noticed soon, and a long one is polled seldom.
            pause = min(2 * pause, _LOOKS_LAST_SECONDS)


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """Calls `stop` on the first Ctrl-C within the block; the second ends the program at once."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)

    def interrupted() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        stop()

    loop.add_signal_handler(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


@contextmanager
def interrupted_at_once() -> Iterator[None]:
    """Lets Ctrl-C end the program at once within the block, even while other threads run."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end(job: Document, shown: Shown) -> NoReturn:
    """Prints the job and what to do next, and ends the program with the outcome's exit code."""
    show(job, shown.how, shown.get, ())
    for line in _advice(job):
        output.say(line)
    raise SystemExit(_CODES.get(job["state"], exit_codes.FAILED))


def _advice(job: Document) -> Iterator[str]:
    id, state = job["id"], job["state"]
    if state in _GOING_ON:
        yield f"it goes on without you: idp job watch {id}"
    elif state == "JOB_STATE_FAILED":
        yield f"the import failed: {job.get('reason', '')} ({job.get('slug', '')})"
    if job.get("failed"):
        yield f"{job['failed']} rows failed: idp job errors {id}"
    if job.get("resumedBy"):
        yield f"stopped; go on by: {job['resumedBy']}"


async def report(backend: Backend, job_id: str, file: Path) -> None:
    """Writes the problems of the job's rows into a file, one JSON document per line.

    The report contains personal data, so only its owner may read the file.
    """
    with output.private_file(file) as into:
        async for problem in _problems(backend, job_id):
            into.write(msgspec.json.encode(problem) + b"\n")


async def _problems(backend: Backend, job_id: str) -> AsyncIterator[Document]:
    wanted = {"limit": str(_PAGE)}
    while True:
        page = await backend.call(_ERRORS, [job_id], wanted)
        for problem in page.get("result", []):
            yield problem
        if not page.get("nextCursor"):
            return
        wanted["cursor"] = page["nextCursor"]
