"""The command `idp apply`: compares a YAML or JSON file with the installation, prints the
difference and makes the changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from idp.cli.apply import plan, state
from idp.cli.apply.steps import ApplyStep, check_files
from idp.cli.backends import Backend
from idp.cli.building import with_common_options
from idp.cli.output import Format, say
from idp.cli.running import carry_out, location_of
from idp.foundation.errors import IdpError
from idp.start import exit_codes
from storage import StorageError


@click.command("apply", short_help="Apply the state that a file describes.")
@click.option(
    "-f",
    "--file",
    required=True,
    type=click.Path(path_type=Path),
    help="The file, in YAML or JSON.",
)
@click.option("--dry-run", is_flag=True, help="Print the changes without making them.")
@click.option(
    "--prune", is_flag=True, help="Delete records that the lists of the file don't have."
)
@click.option("--yes", is_flag=True, help="Don't ask before deleting.")
def apply(file: Path, dry_run: bool, prune: bool, yes: bool, **option_values: Any) -> None:
    """Create and change records as a file describes, and print the changes as a diff. Records and
    fields that the file doesn't mention stay the same. Example: idp apply -f state.yaml --dry-run
    """
    output_format: Format = option_values["output_format"]
    location = location_of(option_values)

    async def run(backend: Backend) -> None:
        steps = await plan.plan(backend, state.load(file), prunes=prune)
        _print(steps, output_format)
        if not steps:
            say("nothing to do")
        elif dry_run:
            say(f"{_summary(steps)}; nothing was done")
        else:
            # Before the first step, because a secret that cannot be stored is lost.
            check_files(steps)
            _ask(steps, yes=yes)
            await _carry_out_steps(backend, steps)
            say(_summary(steps))

    carry_out(location, run)


with_common_options(apply)


def _print(steps: Sequence[ApplyStep], output_format: Format) -> None:
    if output_format == "table":
        lines = [line for step in steps for line in step.lines()]
    elif output_format == "ndjson":
        lines = [msgspec.json.encode(step.as_json()).decode() for step in steps]
    else:
        document = msgspec.json.encode({"steps": [step.as_json() for step in steps]})
        lines = [msgspec.json.format(document, indent=2).decode()]
    if lines:
        click.echo("\n".join(lines))


def _ask(steps: Sequence[ApplyStep], *, yes: bool) -> None:
    deletions = sum(step.action == "delete" for step in steps)
    if deletions and not yes:
        click.confirm(f"Delete {deletions} for good?", abort=True, err=True)


async def _carry_out_steps(backend: Backend, steps: Sequence[ApplyStep]) -> None:
    """Carries out the steps. If one is refused, the earlier ones stay done: the program ends with
    a special exit code, and the same command continues."""
    for done_count, step in enumerate(steps):
        try:
            await step.carry_out(backend)
        except (IdpError, StorageError) as error:
            say(f"idp: not done: {step.record.label}")
            code = exit_codes.report(error)
            if done_count:
                say(
                    f"{done_count} of {len(steps)} steps are done; after the cause is removed, the"
                    " same command does the rest"
                )
            raise SystemExit(exit_codes.INTERRUPTED if done_count else code) from None


def _summary(steps: Sequence[ApplyStep]) -> str:
    counts = [
        f"{sum(step.action == action for step in steps)} to {action}"
        for action in ("create", "change", "delete")
    ]
    return ", ".join(counts)
