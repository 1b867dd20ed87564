"""`idp job`: the jobs of imports."""

from __future__ import annotations

from typing import Any

import click

from idp import api
from idp.cli import watching
from idp.cli.backends import Backend
from idp.cli.building import group, with_common_options
from idp.cli.command import Command
from idp.cli.output import check_field
from idp.cli.running import carry_out, location_of

job = group(
    "job",
    "Import jobs: their progress and errors.",
    [
        Command(
            "list",
            api.imports.SEARCH_JOBS,
            "idp job list",
            columns=("id", "state", "dryRun", "done", "total", "failed", "creationDate"),
            summary="List the jobs of the last 30 days.",
        ),
        Command("show", api.imports.READ_JOB, "idp job show 3141592653589793"),
        Command("cancel", api.imports.CANCEL_JOB, "idp job cancel 3141592653589793"),
        Command("resume", api.imports.RESUME_JOB, "idp job resume 3141592653589793"),
        Command(
            "errors",
            api.imports.JOB_ERRORS,
            "idp job errors 3141592653589793 --limit 1000",
            columns=("row", "path", "type", "id", "slug", "message"),
        ),
    ],
)


@click.command("watch", short_help="Show the progress of a job until it ends.")
@click.argument("job_id", metavar="JOB_ID")
def watch(job_id: str, **option_values: Any) -> None:
    """Show the progress of a job until it ends. Exits with 3 if rows failed.
    Example: idp job watch 3141592653589793
    """
    print_options = watching.PrintOptions(option_values["output_format"], option_values["get"])
    if print_options.get:
        check_field(watching.JOB.answer, print_options.get)

    async def run(backend: Backend) -> None:
        watching.end(await watching.until_end(backend, job_id), print_options)

    carry_out(location_of(option_values), run)


job.add_command(with_common_options(watch))
