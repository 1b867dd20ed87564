"""`idp store`: verifies a whole store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from idp.cli.commands.backup import count_lines, json_flag, manifest_json, progress_bar, total
from idp.cli.output import say
from idp.cli.settings import load_for_store, store_flags
from idp.start import exit_codes


@click.group(short_help="Verify the store.")
def store() -> None:
    """Verify the whole store."""


@store.command()
@store_flags
@json_flag
def verify(as_json: bool, config_file: Path | None, **flags: object) -> None:
    """Read every record, for instance after a database or a disk was restored; the service may
    keep running. --json adds digests, which are those of a backup of the same records.
    Example: idp store verify
    """
    config = load_for_store(config_file, flags).config

    def run() -> None:
        from idp.backup import verifying

        with progress_bar(None) as on_progress:
            report = asyncio.run(verifying.verify(config, on_progress))
        about = {"schema": report.schema.version} | manifest_json(report.manifest)
        click.echo(
            msgspec.json.encode(about) if as_json else "\n".join(count_lines(report.manifest))
        )
        say(f"the store is whole: {total(report.manifest)}")

    raise SystemExit(exit_codes.guarded(run))
