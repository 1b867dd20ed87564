"""`idp import`: creates the job that imports a package, and waits for its end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct

from idp import api
from idp.cli import watching
from idp.cli.backends import Backend
from idp.cli.building import with_common_options
from idp.cli.document import Document
from idp.cli.local import Local
from idp.cli.output import check_field, check_writable, say
from idp.cli.remote import Remote
from idp.cli.running import carry_out, location_of
from idp.cli.watching import JOB, PrintOptions
from idp.records.jobs import JobOptions

_SEARCH: Final = api.imports.SEARCH_JOBS


class ImportOptions(Struct, frozen=True):
    """The options of `idp import`: the file, the options of its job, and whether an interrupted
    job is resumed.
    """

    file: Path
    options: JobOptions
    is_resumed: bool


@click.command("import", short_help="Import organizations with their contents.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Report the changes without making them.")
@click.option("--update", is_flag=True, help="Update records that exist already.")
@click.option("--fix", is_flag=True, help="Correct unambiguous errors, and report each.")
@click.option("--resume", is_flag=True, help="Resume an interrupted import of this file.")
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the errors of rows to this file (mode 0600), a line of JSON each.",
)
def import_(
    file: Path,
    dry_run: bool,
    update: bool,
    fix: bool,
    resume: bool,
    report: Path | None,
    **option_values: Any,
) -> None:
    """Import organizations with their contents from an export, `idp migrate` or another system.
    Exits with 3 if rows failed; the others are stored. If interrupted, it exits with 7, and
    --resume continues. Example: idp import package.json --dry-run --report problems.ndjson
    """
    options = JobOptions(is_dry_run=dry_run, updates=update, mends=fix)
    import_options = ImportOptions(file, options, resume)
    print_options = PrintOptions(option_values["output_format"], option_values["get"])
    if print_options.get:
        check_field(JOB.answer, print_options.get)

    async def run(backend: Backend) -> None:
        if report is not None:
            check_writable(report)  # an unwritable file is reported before anything is done
        job = await _import(backend, import_options)
        if report is not None:
            await watching.report(backend, job["id"], report)
        watching.end(job, print_options)

    carry_out(location_of(option_values), run)


with_common_options(import_)


async def _import(backend: Backend, import_options: ImportOptions) -> Document:
    """Returns the package's job, which has ended unless this program was interrupted."""
    if isinstance(backend, Local):
        return await _import_locally(backend, import_options)
    assert isinstance(backend, Remote)  # noqa: S101 - there is no third back end
    return await watching.until_end(backend, await _upload(backend, import_options))


async def _import_locally(backend: Local, import_options: ImportOptions) -> Document:
    """Runs the import in this process, on the store. Raises IdpError, StorageError."""
    from idp.server.import_process import tuned_for_rows
    from idp.transfer.jobs import runner as job_runner
    from idp.transfer.package import local_files

    service, actor = backend.service, backend.caller.id
    start = local_files.resume if import_options.is_resumed else local_files.begin
    with watching.immediately_interruptible():  # nothing has been done yet
        file = await local_files.identify(import_options.file)
        hold = await start(service, actor, file, import_options.options)
    is_stopping = asyncio.Event()

    def stop() -> None:
        say("stopping after these rows; press Ctrl-C again to stop immediately")
        is_stopping.set()

    with watching.interruptible(stop), tuned_for_rows():
        work = asyncio.ensure_future(
            job_runner.work(service, hold, is_stopping=is_stopping.is_set)
        )
        await watching.poll(backend, hold.job.id, work)
        await work
    return await backend.call(JOB, [hold.job.id])


async def _upload(backend: Remote, import_options: ImportOptions) -> str:
    """Uploads the package to a service and returns the job's id. Raises IdpError."""
    from idp.cli import uploading

    if import_options.is_resumed:
        raise click.UsageError("a service resumes imports itself; or use `idp job resume`")
    # A refusal is reported before gigabytes are sent.
    await backend.call(_SEARCH, [], {"query": {"limit": 1}})
    options = import_options.options
    members = {"dryRun": options.is_dry_run, "update": options.updates, "fix": options.mends}
    with (
        watching.immediately_interruptible()
    ):  # a service does nothing before it has the whole package
        answer = await uploading.upload(backend, import_options.file, members)
    return str(answer["jobId"])
