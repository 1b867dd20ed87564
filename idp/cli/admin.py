"""`idp admin`: ways back in for whoever can start the service on its store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from idp import exits
from idp.cli.settings import load, store_flags
from idp.config import Config


@click.group(short_help="Ways back in.")
def admin() -> None:
    """Work on the store directly: access to this machine is the permission."""


@admin.command("reset-password")
@store_flags
@click.argument("login_name")
def reset_password(login_name: str, config_file: Path | None, **flags: object) -> None:
    """Give a person a one-time password. Example: idp admin reset-password admin@localhost"""
    config = load(config_file, flags).config
    raise SystemExit(exits.guarded(lambda: asyncio.run(_reset(config, login_name))))


async def _reset(config: Config, login_name: str) -> None:
    from idp import start
    from idp.identity import recovery

    service = await start.open_service(config, must_exist=True)
    try:
        click.echo(await recovery.reset_password(service, login_name, actor="command line"))
    finally:
        await start.close_service(service)
