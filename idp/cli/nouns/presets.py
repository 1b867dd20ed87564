"""`idp preset`: settings for well-known applications."""

from __future__ import annotations

from typing import Any, Final

import click

from idp.cli.backends import Backend
from idp.cli.building import group, with_common_options
from idp.cli.command import BY_ADDRESS, command
from idp.cli.running import carry_out, location_of, show

_PRESETS: Final = "/management/v1/presets"

preset = group(
    "preset",
    "Settings for well-known applications.",
    [
        command(
            "list",
            f"GET {_PRESETS}",
            "idp preset list",
            columns=("name", "title", "kind"),
        ),
        command(
            "show",
            f"GET {_PRESETS}/{{name}}",
            "idp preset show grafana",
            left_out={"configuration": "idp preset configuration {} --host HOST --client-id ID"},
        ),
    ],
)


@click.command("configuration")
@click.argument("name")
@click.option("--host", metavar="HOST", required=True, help="Where the tool is.")
@click.option("--client-id", metavar="ID", required=True, help="The application's client id.")
def configuration(name: str, host: str, client_id: str, **given: Any) -> None:
    """Print how a tool is configured, with CLIENT_SECRET where its secret belongs.

    Example: idp preset configuration grafana --host grafana.acme.example --client-id 7fQm2Xb1
    """
    location, output_format, get = location_of(given), given["output_format"], given["get"]

    async def print_configuration(backend: Backend) -> None:
        from idp.clients import presets

        tool = await backend.call(BY_ADDRESS[f"GET {_PRESETS}/{{name}}"], [name])
        text = presets.configuration(name, backend.issuer, client_id, host)
        answer = {"file": tool["file"], "configuration": text}
        if output_format == "table" and not get:
            click.echo(text)
        else:
            show(answer, output_format, get, ())

    carry_out(location, print_configuration)


preset.add_command(with_common_options(configuration))
