"""`idp serve`: starts the service."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import click
from msgspec.structs import replace

from idp.cli import given_options
from idp.cli.settings import load, store_flags
from idp.config import loading
from idp.config.rules import BrokenRule
from idp.config.settings import Config
from idp.server import first_process
from idp.start import checks as start_checks
from idp.start.checks import Launch


@click.command(short_help="Start the service.")
@store_flags
@click.option("--host", help="Address to listen on.")
@click.option("--port", help="Port to listen on; 0 picks a free one.")
@click.option("--issuer", metavar="URL", help="Where browsers and clients reach the service.")
@click.option("--processes", metavar="N", help="How many processes share the port.")
@click.option("--tls-cert", metavar="FILE", help="PEM file of the certificate chain.")
@click.option("--tls-key", metavar="FILE", help="PEM file of the private key.")
@click.option("--insecure-http", is_flag=True, default=None, help="Allow http beyond loopback.")
@click.option("--admin-pat", metavar="FILE", help="Write an administrator's token there (24 h).")
@click.option("--test", is_flag=True, default=None, help="Temporary store, settable clock.")
@click.option("--new-store", is_flag=True, help="Set up an empty store with the key there is.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line once it serves.")
def serve(config_file: Path | None, new_store: bool, as_json: bool, **flags: object) -> None:
    """Start the service; without any flag, on this machine, with all it needs in ./idp-data.

    Example: idp serve --issuer https://login.example.com --tls-cert chain.pem --tls-key key.pem
    """
    started_at = time.monotonic()
    first_process.end_on_sigterm()
    options = given_options.options(click.get_current_context())
    launch = Launch(new_store=new_store, command=f"idp serve {options}".rstrip())

    def rules(config: Config) -> Iterable[BrokenRule]:
        return start_checks.check(config, launch)

    def load_again() -> Config:
        return loading.load(flags, file=config_file, rules=rules).config

    loaded = load(config_file, flags, rules)
    from idp.server import listener  # imported late, because the other commands do not need it

    announce = listener.announce_as_json if as_json else listener.announce_to_people(started_at)
    launch = replace(launch, without_effect=loaded.without_effect())
    raise SystemExit(listener.run(loaded.config, announce, launch, load_again))
