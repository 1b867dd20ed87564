"""`idp preset`: settings for well-known applications."""

from __future__ import annotations

from typing import Any

import click

from idp import api
from idp.cli.backends import Backend
from idp.cli.building import group, with_common_options
from idp.cli.command import Command
from idp.cli.running import carry_out, location_of, show

preset = group(
    "preset",
    "Settings for well-known applications.",
    [
        Command(
            "list", api.applications.PRESETS, "idp preset list", columns=("name", "title", "kind")
        ),
        Command(
            "show",
            api.applications.READ_PRESET,
            "idp preset show grafana",
            multiline_fields={
                "configuration": "idp preset configuration {} --host HOST --client-id ID"
            },
        ),
    ],
)


@click.command("configuration")
@click.argument("name")
@click.option("--host", metavar="HOST", required=True, help="The host of the application.")
@click.option("--client-id", metavar="ID", required=True, help="The client ID of the application.")
def configuration(name: str, host: str, client_id: str, **option_values: Any) -> None:
    """Print the configuration of an application, with CLIENT_SECRET in place of its secret.

    Example: idp preset configuration grafana --host grafana.acme.example --client-id 7fQm2Xb1
    """
    location, output_format, get = (
        location_of(option_values),
        option_values["output_format"],
        option_values["get"],
    )

    async def print_configuration(backend: Backend) -> None:
        from idp.clients import presets

        tool = await backend.call(api.applications.READ_PRESET, [name])
        text = presets.configuration(name, backend.issuer, client_id, host)
        answer = {"file": tool["file"], "configuration": text}
        if output_format == "table" and not get:
            click.echo(text)
        else:
            show(answer, output_format, get, ())

    carry_out(location, print_configuration)


preset.add_command(with_common_options(configuration))
