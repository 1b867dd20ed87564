"""The command line: data on stdout, everything else on stderr."""

from __future__ import annotations

import click

from idp import __version__
from idp.cli import admin, config, explain, keys, schema, serve


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="idp")
def main() -> None:
    """A self-hosted OpenID Connect and OAuth 2.0 identity service."""


for command in (
    serve.serve,
    config.config,
    admin.admin,
    keys.keys,
    explain.explain,
    schema.schema,
):
    main.add_command(command)
