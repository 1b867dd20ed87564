"""A job that is waited for, whoever works on it; and how a program ends that waited for one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Final, NoReturn

import click
import msgspec

from idp import exits
from idp.cli import output
from idp.cli.backends import Backend, Document
from idp.cli.command import BY_ADDRESS
from idp.cli.output import Format
from idp.cli.progress import Progress
from idp.errors import Busy

UNIT: Final = "rows"
_LOOKS_FIRST_SECONDS: Final = 0.05
_LOOKS_LAST_SECONDS: Final = 1.0
_PATIENCE: Final = 60  # looks in a row that may fail: a service may be started anew meanwhile
_PAGE: Final = 1000
_GOING_ON: Final = ("JOB_STATE_QUEUED", "JOB_STATE_RUNNING")
_CODES: Final = {
    "JOB_STATE_SUCCEEDED": exits.OK,
    "JOB_STATE_FINISHED_WITH_ERRORS": exits.ROW_ERRORS,
    "JOB_STATE_CANCELLED": exits.INTERRUPTED,
}


async def until_end(backend: Backend, job_id: str) -> Document:
    """The job once it has ended. Raises NotFound, and Busy: the service was away for long."""
    failures, pause = 0, _LOOKS_FIRST_SECONDS
    with closing(Progress(UNIT)) as progress:
        while True:
            try:
                job = await backend.call(BY_ADDRESS["GET /admin/v1/jobs/{jobId}"], [job_id])
            except Busy:
                failures += 1
                if failures > _PATIENCE:
                    raise
            else:
                failures = 0
                progress.show(job.get("done", 0), job.get("total", 0))
                if job["state"] not in _GOING_ON:
                    return job
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LOOKS_LAST_SECONDS)


def end(job: Document, how: Format) -> NoReturn:
    """Print the job, and end the program as it ended."""
    click.echo(output.printed(job, how))
    if job["state"] == "JOB_STATE_FINISHED_WITH_ERRORS":
        output.say(f"{job['failed']} rows failed: idp job errors {job['id']}")
    raise SystemExit(_CODES.get(job["state"], exits.FAILED))


async def report(backend: Backend, job_id: str, file: Path) -> None:
    """Write what was wrong with the job's rows into a file, a line of JSON each.

    A report names people: nobody else may read it.
    """
    with output.private_file(file) as into:
        async for problem in _problems(backend, job_id):
            into.write(msgspec.json.encode(problem) + b"\n")


async def _problems(backend: Backend, job_id: str) -> AsyncIterator[Document]:
    cursor = ""
    while True:
        page = await backend.call(
            BY_ADDRESS["GET /admin/v1/jobs/{jobId}/errors"],
            [job_id],
            {"cursor": cursor, "limit": str(_PAGE)} if cursor else {"limit": str(_PAGE)},
        )
        for problem in page.get("result", []):
            yield problem
        cursor = page.get("nextCursor", "")
        if not cursor:
            return
