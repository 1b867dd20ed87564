"""`idp init`: creates an installation without serving it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from idp.cli.settings import admin_pat_flag, insecure_http_flag, issuer_flag, load, store_flags
from idp.config.rules import BrokenRule
from idp.config.settings import Config
from idp.foundation.clock import SystemClock
from idp.records import INSTANCE_ID, INSTANCES
from idp.start import bootstrap, exit_codes
from idp.start import checks as start_checks
from idp.start.announcement import Start
from idp.start.checks import Launch


@click.command(short_help="Create the installation and exit.")
@store_flags
@issuer_flag
@insecure_http_flag
@admin_pat_flag
@click.option(
    "--without-secrets", is_flag=True, help="Print no password and no token, for a job with a log."
)
def init(config_file: Path | None, without_secrets: bool, **flags: object) -> None:
    """Create an installation in an empty store as `idp serve --new-store` does, print one JSON
    line, and exit.

    For a job that runs before the service. If the store has an installation, nothing is written.

    Example: idp init --issuer https://login.example.com --store mongodb://db1,db2/idp
    """
    launch = Launch(new_store=True, command="idp init")

    def rules(config: Config) -> Iterable[BrokenRule]:
        return start_checks.check(config, launch)

    config = load(config_file, flags, rules).config

    def work() -> None:
        start = asyncio.run(_init(config, launch))
        if start is not None:
            _print(start.without_secrets() if without_secrets else start)

    raise SystemExit(exit_codes.guarded(work))


async def _init(config: Config, launch: Launch) -> Start | None:
    """Creates the installation; returns None if the store has one."""
    if await _exists(config):
        print("idp: the store has an installation already; nothing was written", file=sys.stderr)
        return None
    return await _create(config, launch)


def _print(start: Start) -> None:
    print(msgspec.json.encode(start.as_json()).decode(), flush=True)


async def _exists(config: Config) -> bool:
    """Returns whether the store has an installation; nothing is created. Raises StorageError."""
    if start_checks.is_missing(config.store):
        return False
    async with bootstrap.open_unchecked(config.store, (INSTANCES,), SystemClock()) as store:
        return await store.get(INSTANCES, INSTANCE_ID) is not None


async def _create(config: Config, launch: Launch) -> Start:
    """Creates the installation; returns what the start reports. Raises the errors of
    `bootstrap.open_service`."""
    start_checks.check_files(config)
    service = await bootstrap.open_service(config, launch)
    try:
        return await bootstrap.make_ready(service)
    finally:
        await bootstrap.close_service(service)
