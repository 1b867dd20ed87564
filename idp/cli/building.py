"""Builds click commands from their descriptions and their operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
from msgspec import structs

from idp.cli import fields, output, queries, running
from idp.cli.command import HIDDEN, Command, is_chosen_by_values, summary
from idp.cli.fields import FieldOption
from idp.cli.settings import store_flags
from idp.schema.reading import Request


class Verb(click.Command):
    """A click command, with the `description` that it was built from."""

    description: Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the arguments, and explains how to pass an id that was read as an option."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name.startswith("--"):
                raise
            message = f"{error.message} An id that begins with '-' goes last, after '--'."
            raise click.NoSuchOption(
                error.option_name, message, error.possibilities, error.ctx
            ) from error


def group(name: str, short_help: str, commands: Sequence[Command]) -> click.Group:
    """Returns the command group for one noun, such as `idp user`, with its commands."""
    click_group = click.Group(name, help=short_help, short_help=short_help)
    for each in commands:
        click_group.add_command(build(each))
    return click_group


def build(command: Command) -> click.Command:
    """Returns the click command that is built from a description."""
    options = options_of(command)
    parameters = [*_path_parameters(command), *_switches(command), *command.extra]
    parameters += [
        fields.option(field, name, _help(command, field)) for name, field in options.items()
    ]
    if any(map(queries.is_search, command.operations.values())):
        parameters.append(queries.ALL)
    if command.confirm:
        parameters.append(click.Option(["--yes"], is_flag=True, help="Don't ask."))
    if _has_secret(command):
        help_text = "Write the secret there (mode 0600) instead of printing it."
        parameters.append(click.Option(["--secret-file"], metavar="FILE", help=help_text))
    click_command = Verb(
        command.verb,
        params=parameters,
        callback=running.callback(command, options),
        help=f"{summary(command)} Example: {command.example}",
        short_help=summary(command),
    )
    click_command.description = command
    return with_common_options(click_command)


def with_common_options(command: click.Command) -> click.Command:
    """Adds to a command the options that all commands have, for the installation and the format,
    and returns it.
    """
    with_location_options(command)
    command.params += [
        click.Option(
            ["--format", "output_format"],
            type=click.Choice(output.FORMATS),
            default="table",
            help="The output format: a table, or JSON for programs.",
        ),
        click.Option(["--get"], metavar="FIELD", help="Print only this field of the answer."),
    ]
    return command


def with_location_options(command: click.Command) -> click.Command:
    """Adds to a command the options that name a store or a service, and returns it."""
    store_flags(command)
    command.params += [
        click.Option(
            ["--url"], metavar="URL", help="The URL of a running service, instead of a store."
        ),
        click.Option(
            ["--token-file"],
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="The file with the token; the default is IDP_TOKEN.",
        ),
        click.Option(
            ["--org", "org_id"],
            metavar="ID",
            help="The ID of the organization to act in; the default is IDP_ORG.",
        ),
    ]
    return command


def options_of(command: Command) -> dict[str, FieldOption]:
    """Returns the fields of the request for which the command has options, as a dict by the names
    of the options without dashes.
    """
    by_path: dict[tuple[str, ...], FieldOption] = {}
    for operation in command.operations.values():
        request_type = operation.request or operation.query
        if request_type is not None:
            for field in _fields(request_type):
                by_path[field.path] = fields.merged(by_path.get(field.path), field)
    offered_fields = [each for each in by_path.values() if _is_offered(command, each)]
    short_names = [fields.option_name(each) for each in offered_fields]
    by_name: dict[str, FieldOption] = {}
    for field, name in zip(offered_fields, short_names, strict=True):
        # Fields with the same last name get longer options.
        is_unique = short_names.count(name) == 1 and name not in _RESERVED
        by_name[_explicit_name(command, field) or (name if is_unique else _long_name(field))] = (
            field
        )
    return by_name


def _is_offered(command: Command, field: FieldOption) -> bool:
    name = field.path[0]
    is_fixed = name in command.fixed and not queries.is_filter(field)
    if is_fixed or (command.only and name not in command.only):
        return False
    return _explicit_name(command, field) != HIDDEN


_RESERVED: Final = ("url", "token-file", "org", "format", "get", "yes", "data", "store", "config")


def _fields(kind: type[Request]) -> Iterator[FieldOption]:
    yield from queries.filters_of(kind)
    yield from fields.fields_of(kind)


def _explicit_name(command: Command, field: FieldOption) -> str | None:
    if field.dotted in command.names:
        return command.names[field.dotted]
    for prefix, name in command.names.items():
        if prefix.endswith(".") and field.dotted.startswith(prefix):
            return f"{name}-{fields.option_name(field)}" if name else HIDDEN
    return None


def _long_name(field: FieldOption) -> str:
    return "-".join(fields.kebab(part) for part in field.path[-2:])


def _help(command: Command, field: FieldOption) -> str:
    text = command.help_texts.get(field.dotted, "")
    return f"{text} Required.".strip() if field.is_required else text


def _path_parameters(command: Command) -> list[click.Parameter]:
    names = dict.fromkeys(
        name for operation in command.operations.values() for name in operation.parameters
    )
    has_one_operation = len(command.operations) == 1
    parameters: list[click.Parameter] = []
    for name in names:
        if name == command.path_argument:
            metavar = fields.kebab(name).replace("-", "_").upper()
            parameters.append(click.Argument([fields.parameter_name(name)], metavar=metavar))
        else:
            flag = [fields.path_option(name), fields.parameter_name(name)]
            parameters.append(
                click.Option(
                    flag,
                    metavar="ID",
                    required=has_one_operation,
                    help="The ID of the record that contains it.",
                )
            )
    return parameters


def _switches(command: Command) -> list[click.Parameter]:
    return [
        click.Option(
            [f"--{name}", f"for_{name}"],
            is_flag=True,
            help=command.switches.get(name, "For the whole instance."),
        )
        for name, operation in command.operations.items()
        if name and command.adapt is None and not is_chosen_by_values(command)
    ]


def _has_secret(command: Command) -> bool:
    return any(
        output.secrets_in(member.encode_name for member in structs.fields(operation.answer))
        for operation in command.operations.values()
    )
