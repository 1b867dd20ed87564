"""`idp api`: any operation of the management API as a command."""

from __future__ import annotations

import re
from typing import Any

import click

from idp.api import OPERATIONS
from idp.api.operation import Operation
from idp.cli import fields
from idp.cli.backends import Backend
from idp.cli.building import with_common_options
from idp.cli.running import carry_out, location_of, show
from idp.foundation import strict_json
from idp.foundation.errors import InvalidArgument


@click.command(short_help="Any call of the management API.")
@click.argument("method")
@click.argument("path")
@click.option("--body", metavar="FILE", help="The JSON document to send, or - for stdin.")
def api(method: str, path: str, body: str | None, **option_values: Any) -> None:
    """Call any operation of the management API.

    Example: idp api GET /v2/features/instance --format json
    """
    location, output_format, get = (
        location_of(option_values),
        option_values["output_format"],
        option_values["get"],
    )
    operation, values = find_operation(method.upper(), path)

    async def run(backend: Backend) -> None:
        document: object = {} if operation.request is not None else None
        if body is not None:
            document = _document(body)
        show(await backend.call(operation, values, document), output_format, get, ())

    carry_out(location, run)


with_common_options(api)


def find_operation(method: str, path: str) -> tuple[Operation, list[str]]:
    """Returns the operation with this HTTP method and path, and the values that the path has for
    the operation's parameters. Raises click.UsageError.
    """
    best: tuple[Operation, list[str]] | None = None
    for each in OPERATIONS:
        pattern = re.sub(r"\\{\w+\\}", "([^/]+)", re.escape(each.path))
        match = re.fullmatch(pattern, path)
        if match and each.method == method:
            # A path without parameters takes precedence over one that matches by a parameter.
            if not match.groups():
                return each, []
            best = best or (each, list(match.groups()))
    if best is None:
        raise click.UsageError(f"there is no operation {method} {path}")
    return best


def _document(file: str) -> object:
    try:
        return strict_json.decode(fields.read_data(file))
    except InvalidArgument as error:
        raise click.UsageError(f"{file} is not JSON: {error}") from None
