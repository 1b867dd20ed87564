"""`idp serve`: starts the service."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import click

from idp.cli import given_options
from idp.cli.settings import admin_pat_flag, insecure_http_flag, issuer_flag, load, store_flags
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
@issuer_flag
@click.option("--processes", metavar="N", help="How many processes share the port.")
@click.option("--tls-cert", metavar="FILE", help="PEM file of the certificate chain.")
@click.option("--tls-key", metavar="FILE", help="PEM file of the private key.")
@insecure_http_flag
@admin_pat_flag
@click.option(
    "--test",
    is_flag=True,
    default=None,
    help="For tests: a temporary store, and a clock that can be set.",
)
@click.option(
    "--new-store", is_flag=True, help="Set up an empty store with the existing master key."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON line when the service is ready."
)
def serve(config_file: Path | None, new_store: bool, as_json: bool, **flags: object) -> None:
    """Start the service. Without options, it serves this machine, and its data is in ./idp-data.

    Example: idp serve --issuer https://login.example.com --tls-cert chain.pem --tls-key key.pem
    """
    started_at = time.monotonic()
    first_process.end_on_sigterm()
    options = given_options.options(click.get_current_context())
    launch = Launch(new_store=new_store, command=f"idp serve {options}".rstrip())

    def rules(config: Config) -> Iterable[BrokenRule]:
        return start_checks.check(config, launch)

    def reload() -> Config:
        return loading.load(flags, file=config_file, rules=rules).config

    loaded = load(config_file, flags, rules)
    from idp.server import listener  # imported late, because the other commands do not need it

    announce = listener.announce_as_json if as_json else listener.announce_as_text(started_at)
    raise SystemExit(listener.run(loaded.config, announce, launch, reload))
