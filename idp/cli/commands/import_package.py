"""`idp import`: creates the job that imports a package, and waits for its end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct

from idp.cli import watching
from idp.cli.backends import Backend
from idp.cli.building import with_common_options
from idp.cli.command import BY_ADDRESS
from idp.cli.document import Document
from idp.cli.local import Local
from idp.cli.output import check_field, check_writable, say
from idp.cli.remote import Remote
from idp.cli.running import carry_out, location_of
from idp.cli.watching import JOB, PrintOptions
from idp.records.jobs import JobOptions

_SEARCH: Final = BY_ADDRESS["POST /admin/v1/jobs/_search"]


class ImportOptions(Struct, frozen=True):
    """The options of `idp import`: the file, the options of its job, and whether an interrupted
    job is resumed.
    """

    file: Path
    options: JobOptions
    is_resumed: bool


@click.command("import", short_help="Bring in organizations with all that is in them.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Tell what would be done, and do nothing.")
@click.option("--update", is_flag=True, help="Change what is there already.")
@click.option("--fix", is_flag=True, help="Mend what can only mean one thing, and tell it.")
@click.option("--resume", is_flag=True, help="Go on with an import of this file that was cut off.")
@click.option(
    "--report",
    metavar="FILE",
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
    import_options = ImportOptions(file, options, resume)
    print_options = PrintOptions(given["output_format"], given["get"])
    if print_options.get:
        check_field(JOB.answer, print_options.get)

    async def imported(backend: Backend) -> None:
        if report is not None:
            check_writable(report)  # an unwritable file is reported before anything is done
        ended = await _ended(backend, import_options)
        if report is not None:
            await watching.report(backend, ended["id"], report)
        watching.end(ended, print_options)

    carry_out(location_of(given), imported)


with_common_options(import_)


async def _ended(backend: Backend, import_options: ImportOptions) -> Document:
    """Returns the package's job, which has ended unless this program was interrupted."""
    if isinstance(backend, Local):
        return await _ended_here(backend, import_options)
    assert isinstance(backend, Remote)  # noqa: S101 - there is no third place
    return await watching.until_end(backend, await _begin_there(backend, import_options))


async def _ended_here(backend: Local, import_options: ImportOptions) -> Document:
    """Runs the import in this process, on the store. Raises IdpError, StorageError."""
    from idp.server import import_worker
    from idp.transfer.jobs import runner as job_runner
    from idp.transfer.jobs import workers
    from idp.transfer.package import local_files

    service, actor = backend.service, backend.caller.id
    start = local_files.go_on if import_options.is_resumed else local_files.begin
    with watching.interrupted_at_once():  # nothing has been done yet
        file = await local_files.look_at(import_options.file)
        hold = await start(service, actor, file, import_options.options)
    is_to_leave = asyncio.Event()

    def leave() -> None:
        say("stopping after these rows; Ctrl-C again ends at once")
        is_to_leave.set()

    with watching.interruptible(leave), import_worker.tuned_for_rows():
        work = asyncio.ensure_future(
            job_runner.work(service, hold, helpers=workers.spare(), is_to_leave=is_to_leave.is_set)
        )
        await watching.poll(backend, hold.job.id, work)
        await work
    return await backend.call(JOB, [hold.job.id])


async def _begin_there(backend: Remote, import_options: ImportOptions) -> str:
    """Uploads the package to a service and returns the job's id. Raises IdpError."""
    from idp.cli import uploading

    if import_options.is_resumed:
        raise click.UsageError("a service goes on by itself, or by `idp job resume`")
    # A refusal is reported before gigabytes are sent.
    await backend.call(_SEARCH, [], {"query": {"limit": 1}})
    options = import_options.options
    members = {"dryRun": options.is_dry_run, "update": options.updates, "fix": options.mends}
    with watching.interrupted_at_once():  # a service does nothing before it has the whole package
        answer = await uploading.upload(backend, import_options.file, members)
    return str(answer["jobId"])
