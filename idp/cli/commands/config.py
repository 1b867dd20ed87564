"""`idp config`: the effective settings with their sources."""

from __future__ import annotations

from pathlib import Path

import click

from idp.cli.settings import load, store_flags
from idp.config import loading as settings


@click.group(short_help="The effective settings.")
def config() -> None:
    """Show the effective settings."""


@config.command()
@store_flags
@click.option("--origin", is_flag=True, help="Print the source of each value.")
def show(config_file: Path | None, origin: bool, **flags: object) -> None:
    """Print all settings. Example: idp config show --origin"""
    rows = settings.describe(load(config_file, flags))
    width = max(len(row.name) for row in rows)
    value_width = max(len(row.value) for row in rows)
    for row in rows:
        line = f"{row.name:<{width}}  {row.value:<{value_width}}" + (
            f"  {row.origin}" if origin else ""
        )
        click.echo(line.rstrip())
