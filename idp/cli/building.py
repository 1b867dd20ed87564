"""Builds click commands from their descriptions and their operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
from msgspec import structs

from idp.cli import fields, output, queries, running
from idp.cli.command import HIDDEN, Command, summary, tells_by_values
from idp.cli.fields import FieldOption
from idp.cli.settings import store_flags
from idp.schema.reading import Request


class Verb(click.Command):
    """A click command with the description that it was built from."""

    made_of: Command


def group(name: str, short_help: str, commands: Sequence[Command]) -> click.Group:
    """Returns the group of the commands of one noun."""
    made = click.Group(name, help=short_help, short_help=short_help)
    for each in commands:
        made.add_command(built(each))
    return made


def built(command: Command) -> click.Command:
    """Builds the click command of a description."""
    options = options_of(command)
    parameters = [*_path_parameters(command), *_switches(command), *command.extra]
    parameters += [
        fields.option(field, name, _help(command, field)) for name, field in options.items()
    ]
    if any(map(queries.is_search, command.operations.values())):
        parameters.append(queries.ALL)
    if command.asks:
        parameters.append(click.Option(["--yes"], is_flag=True, help="Don't ask."))
    if _has_secret(command):
        told = "Write the secret there (mode 0600) instead of printing it."
        parameters.append(click.Option(["--secret-file"], metavar="FILE", help=told))
    made = Verb(
        command.verb,
        params=parameters,
        callback=running.callback(command, options),
        help=f"{summary(command)} Example: {command.example}",
        short_help=summary(command),
    )
    made.made_of = command
    return with_place(made)


def with_place(command: click.Command) -> click.Command:
    """Adds the options that all commands have: where to work, and how to print."""
    store_flags(command)
    for flag in (
        click.Option(["--url"], metavar="URL", help="A running service, instead of a store."),
        click.Option(
            ["--token-file"],
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="The token for it; else IDP_TOKEN.",
        ),
        click.Option(
            ["--org", "org_id"], metavar="ID", help="The organization to act in; else IDP_ORG."
        ),
        click.Option(
            ["--format", "how"],
            type=click.Choice(output.FORMATS),
            default="table",
            help="For people, or for programs.",
        ),
        click.Option(["--get"], metavar="FIELD", help="Print this field of the answer alone."),
    ):
        command.params.append(flag)
    return command


def options_of(command: Command) -> dict[str, FieldOption]:
    """Returns the fields that the command offers, by the names of their options."""
    found: dict[tuple[str, ...], FieldOption] = {}
    for operation in command.operations.values():
        taken = operation.request or operation.query
        if taken is not None:
            for field in _fields(taken):
                found[field.path] = fields.joined(found.get(field.path), field)
    offered = [each for each in found.values() if _is_offered(command, each)]
    short = [fields.option_name(each) for each in offered]
    named: dict[str, FieldOption] = {}
    for field, name in zip(offered, short, strict=True):
        # Fields with the same last name get longer options.
        is_alone = short.count(name) == 1 and name not in _TAKEN
        named[_named(command, field) or (name if is_alone else _long(field))] = field
    return named


def _is_offered(command: Command, field: FieldOption) -> bool:
    name = field.path[0]
    is_fixed = name in command.fixed and not queries.is_filter(field)
    if is_fixed or (command.only and name not in command.only):
        return False
    return _named(command, field) != HIDDEN


_TAKEN: Final = ("url", "token-file", "org", "format", "get", "yes", "data", "store", "config")


def _fields(kind: type[Request]) -> Iterator[FieldOption]:
    yield from queries.filters_of(kind)
    yield from fields.fields_of(kind)


def _named(command: Command, field: FieldOption) -> str | None:
    if field.dotted in command.names:
        return command.names[field.dotted]
    for start, name in command.names.items():
        if start.endswith(".") and field.dotted.startswith(start):
            return f"{name}-{fields.option_name(field)}" if name else HIDDEN
    return None


def _long(field: FieldOption) -> str:
    return "-".join(fields.kebab(part) for part in field.path[-2:])


def _help(command: Command, field: FieldOption) -> str:
    told = command.helps.get(field.dotted, "")
    return f"{told} Required.".strip() if field.is_required else told


def _path_parameters(command: Command) -> list[click.Parameter]:
    every = dict.fromkeys(
        name for operation in command.operations.values() for name in operation.parameters
    )
    is_one = len(command.operations) == 1
    made: list[click.Parameter] = []
    for name in every:
        if name == command.at:
            metavar = fields.kebab(name).replace("-", "_").upper()
            made.append(click.Argument([fields.label_of(name)], metavar=metavar))
        else:
            flag = [fields.path_option(name), fields.label_of(name)]
            made.append(click.Option(flag, metavar="ID", required=is_one, help="Where it is."))
    return made


def _switches(command: Command) -> list[click.Parameter]:
    return [
        click.Option(
            [f"--{name}", f"for_{name}"],
            is_flag=True,
            help=command.switches.get(name, "Of the whole instance."),
        )
        for name, operation in command.operations.items()
        if name and command.adapt is None and not tells_by_values(command)
    ]


def _has_secret(command: Command) -> bool:
    return any(
        output.secrets_in(member.encode_name for member in structs.fields(operation.answer))
        for operation in command.operations.values()
    )
