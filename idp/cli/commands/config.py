"""`idp config`: the effective settings, and where each came from."""

from __future__ import annotations

from pathlib import Path

import click

from idp.cli.settings import load, store_flags
from idp.config import loading as settings


@click.group(short_help="The settings in force.")
def config() -> None:
    """Look at the settings in force."""


@config.command()
@store_flags
@click.option("--origin", is_flag=True, help="Say where each value came from.")
def show(config_file: Path | None, origin: bool, **flags: object) -> None:
    """Print every setting. Example: idp config show --origin"""
    rows = settings.describe(load(config_file, flags))
    width = max(len(row.name) for row in rows)
    values = max(len(row.value) for row in rows)
    for row in rows:
        line = f"{row.name:<{width}}  {row.value:<{values}}" + (
            f"  {row.origin}" if origin else ""
        )
        click.echo(line.rstrip())
