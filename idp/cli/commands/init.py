"""`idp init`: creates an installation without serving it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from idp.cli.settings import load, store_flags
from idp.config.rules import BrokenRule
from idp.config.settings import Config
from idp.foundation.clock import SystemClock
from idp.records import INSTANCE_ID, INSTANCES
from idp.start import bootstrap, exit_codes
from idp.start import checks as start_checks
from idp.start.bootstrap import Start
from idp.start.checks import Launch


@click.command(short_help="Create the installation, and end.")
@store_flags
@click.option("--issuer", metavar="URL", help="Where browsers and clients reach the service.")
@click.option("--insecure-http", is_flag=True, default=None, help="Allow http beyond loopback.")
@click.option("--admin-pat", metavar="FILE", help="Write an administrator's token there (24 h).")
def init(config_file: Path | None, **flags: object) -> None:
    """Create what `idp serve --new-store` creates in an empty store, print one JSON line, and end.

    For a job that runs before the service. Where there is an installation, nothing is written.

    Example: idp init --issuer https://login.example.com --store mongodb://db1,db2/idp
    """
    launch = Launch(new_store=True, command="idp init")

    def rules(config: Config) -> Iterable[BrokenRule]:
        return start_checks.check(config, launch)

    config = load(config_file, flags, rules).config
    raise SystemExit(exit_codes.guarded(lambda: asyncio.run(_init(config, launch))))


async def _init(config: Config, launch: Launch) -> None:
    if await _exists(config):
        print("idp: there is an installation already; nothing was written", file=sys.stderr)
        return
    start = await _created(config, launch)
    print(msgspec.json.encode(start.as_json()).decode(), flush=True)


async def _exists(config: Config) -> bool:
    """Returns whether the store has an installation; nothing is created. Raises StorageError."""
    if start_checks.is_missing(config.store):
        return False
    async with bootstrap.as_it_is(config.store, (INSTANCES,), SystemClock()) as store:
        return await store.get(INSTANCES, INSTANCE_ID) is not None


async def _created(config: Config, launch: Launch) -> Start:
    """Raises as `bootstrap.open_service`."""
    start_checks.check_files(config)
    service = await bootstrap.open_service(config, launch)
    try:
        return await bootstrap.make_ready(service)
    finally:
        await bootstrap.close_service(service)
