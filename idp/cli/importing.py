"""The command `idp import`: a package becomes a job, and its end is waited for."""

from __future__ import annotations

import asyncio
import hashlib
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct, structs

from idp import exits
from idp.cli import watching
from idp.cli.backends import Backend, Document
from idp.cli.building import with_place
from idp.cli.command import BY_ADDRESS
from idp.cli.local import Local
from idp.cli.output import Format, private_file, say
from idp.cli.remote import Remote
from idp.cli.running import carry_out, place_of
from idp.errors import Busy, NotFound
from idp.records.jobs import JOBS, Job, JobOptions
from idp.service import Service
from idp.transfer import jobs, running
from storage import Cursor

_CANCEL: Final = BY_ADDRESS["POST /admin/v1/jobs/{jobId}/_cancel"]
_RESUME: Final = BY_ADDRESS["POST /admin/v1/jobs/{jobId}/_resume"]


class Wanted(Struct, frozen=True):
    """What is to be brought in, and how."""

    file: Path
    options: JobOptions
    is_resumed: bool


@click.command("import", short_help="Bring in organizations with all that is in them.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Tell what would be done, and do nothing.")
@click.option("--update", is_flag=True, help="Change what is there already.")
@click.option("--fix", is_flag=True, help="Mend what can be mended safely.")
@click.option("--resume", is_flag=True, help="Go on with an import of this file that was cut off.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write what is wrong with its rows there (mode 0600), a line of JSON each.",
)
def import_(
    file: Path,
    dry_run: bool,
    update: bool,
    fix: bool,
    resume: bool,
    report: Path | None,
    **given: Any,
) -> None:
    """Bring in a package: organizations with all that is in them, from an export, `idp migrate` or
    another system. Ends with 3 if rows failed; the others are stored. Interrupted, it ends with 7,
    and --resume goes on. Example: idp import package.json --dry-run --report problems.ndjson
    """
    options = JobOptions(is_dry_run=dry_run, updates=update, mends=fix)
    wanted, how = Wanted(file, options, resume), given["how"]

    async def imported(backend: Backend) -> None:
        await _import(backend, wanted, report, how)

    carry_out(place_of(given), imported)


with_place(import_)


async def _import(backend: Backend, wanted: Wanted, report: Path | None, how: Format) -> None:
    if report is not None:
        with private_file(report):  # that it can't be kept is told before anything is done
            pass
    if isinstance(backend, Local):
        job_id = await _begin_here(backend, wanted)
        ended = await _waited_for(backend, job_id, lambda: backend.call(_CANCEL, [job_id], {}))
    else:
        assert isinstance(backend, Remote)  # noqa: S101 - there is no third place
        job_id = await _begin_there(backend, wanted)
        ended = await _waited_for(backend, job_id, None)
    if report is not None:
        await watching.report(backend, job_id, report)
    if ended["state"] == "JOB_STATE_CANCELLED":
        say(f"stopped; `idp import {wanted.file} --resume` goes on")
    watching.end(ended, how)


async def _waited_for(
    backend: Backend, job_id: str, stop: Callable[[], Awaitable[Document]] | None
) -> Document:
    """The job once it has ended. Ctrl-C stops it, or where it is a service's own, the waiting."""
    end = asyncio.ensure_future(watching.until_end(backend, job_id))
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        loop.remove_signal_handler(signal.SIGINT)  # the next one ends the program at once
        if stop is None:
            end.cancel()
        else:
            say("stopping after these rows; Ctrl-C again ends at once")
            stopping.append(asyncio.ensure_future(stop()))

    stopping: list[asyncio.Future[Document]] = []
    loop.add_signal_handler(signal.SIGINT, interrupted)
    try:
        return await end
    except asyncio.CancelledError:
        say(f"the service goes on with it: idp job watch {job_id}")
        raise SystemExit(exits.INTERRUPTED) from None
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        await asyncio.gather(*stopping, return_exceptions=True)  # it may have ended by itself


# On the store of this machine


async def _begin_here(backend: Local, wanted: Wanted) -> str:
    """The job, which this process works on. Raises NotFound, Busy, StorageError."""
    service = backend.service
    digest = await asyncio.to_thread(_digest, wanted.file)
    if wanted.is_resumed:
        job = await _unfinished(service, digest)
        if job.state not in jobs.WAITING:
            await backend.call(_RESUME, [job.id], {})
            return job.id
        hold = await jobs.claim(service, job, service.random.id())
        if hold is None:
            raise Busy("another process is at it", retry_after_seconds=1)
    else:
        source, holder = str(wanted.file.resolve()), service.random.id()
        job = jobs.new(service, backend.caller.id, wanted.options, holder=holder, source=source)
        job = structs.replace(job, digest=digest)
        await jobs.begin(service, job)
        hold = jobs.Hold(service, job)
    service.errands.start(_work(service, hold))
    return job.id


async def _work(service: Service, hold: jobs.Hold) -> None:
    await running.work(service, hold)


async def _unfinished(service: Service, digest: str) -> Job:
    """The newest import of this package that can be gone on with. Raises NotFound, Busy."""
    found: Job | None = None
    after: Cursor | None = None
    while True:
        page = await service.store.find(JOBS, order="created_at", limit=1000, after=after)
        for job in page.records:
            if job.digest == digest and (job.state in jobs.WAITING or jobs.can_go_on(job)):
                found = job
        after = page.after
        if after is None:
            break
    if found is None:
        raise NotFound("there is no unfinished import of this file", slug="job.not_found")
    if found.held_until is not None and found.held_until > service.clock.now():
        told = f"another process is at it, or was until now: idp job watch {found.id}"
        raise Busy(told, retry_after_seconds=jobs.LEASE.seconds)
    return found


def _digest(file: Path) -> str:
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


# At a service


async def _begin_there(backend: Remote, wanted: Wanted) -> str:
    """The job of a service that has received the package. Raises IdpError."""
    from idp.cli import uploading

    if wanted.is_resumed:
        raise click.UsageError("at a service, `idp job resume` goes on with a job")
    # A refusal is told before gigabytes are sent.
    await backend.call(BY_ADDRESS["POST /admin/v1/jobs/_search"], [], {"query": {"limit": 1}})
    options = wanted.options
    wishes = {
        "timeout": "1s",
        "dryRun": options.is_dry_run,
        "update": options.updates,
        "fix": options.mends,
    }
    answer = await uploading.upload(backend, wanted.file, wishes)
    return str(answer["jobId"])
