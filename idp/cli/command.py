"""Commands as data: which operation a command carries out, and what its arguments are called.

Everything else, options, help, formats and exit codes, follows from the operation itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct

from idp import exits
from idp.api import OPERATIONS
from idp.api.operation import Operation
from idp.cli import fields, output
from idp.cli.backends import Backend, Document, Place, opened
from idp.cli.fields import Field
from idp.cli.output import Format
from idp.cli.settings import store_flags

BY_ADDRESS: Final[Mapping[str, Operation]] = {
    f"{each.method} {each.path}": each for each in OPERATIONS
}
HIDDEN: Final = ""
_LISTING: Final = ("list", "create", "add", "search")


Adapt = Callable[[Document, Mapping[str, Any]], tuple[str, Document]]


class Command(Struct, frozen=True, kw_only=True):
    """One command. `operations` are one, or several of which the options choose: `--instance`
    the one of that name, else the one whose path's values are all given.

    `at` is the value of the path that stands by itself; the others are options, `--project` for
    `projectId`. `names` are options whose name is not made of the field's own, by the field's
    path, or by the beginning of several (HIDDEN: there is none); `fixed` is what the body always
    has. `base` reads what a body replaces as a whole, and says where it is in the answer: what is
    not given stays. `columns` are what a table of the answer shows. What `asks` is done only by
    those who mean it.

    `adapt` makes the body, and chooses the operation by its name, of what the fields gave and of
    the options in `extra`.
    """

    verb: str
    operations: Mapping[str, Operation]
    example: str
    at: str = ""
    names: Mapping[str, str] = {}
    helps: Mapping[str, str] = {}
    fixed: Document = {}
    base: tuple[Operation, str] | None = None
    columns: Sequence[str] = ()
    asks: str = ""
    summary: str = ""
    extra: Sequence[click.Parameter] = ()
    adapt: Adapt | None = None


def command(
    verb: str,
    address: str | Mapping[str, str],
    example: str,
    *,
    at: str | None = None,
    names: Mapping[str, str] | None = None,
    helps: Mapping[str, str] | None = None,
    fixed: Document | None = None,
    base: tuple[str, str] | None = None,
    columns: Sequence[str] = (),
    asks: str = "",
    summary: str = "",
    extra: Sequence[click.Parameter] = (),
    adapt: Adapt | None = None,
) -> Command:
    """The command for these operations. `at` is the last value of the path if it isn't named."""
    addresses = {"": address} if isinstance(address, str) else address
    operations = {name: BY_ADDRESS[each] for name, each in addresses.items()}
    if at is None:
        last = next(iter(operations.values())).parameters[-1:]
        at = "" if verb in _LISTING or not last else last[0]
    return Command(
        verb=verb,
        operations=operations,
        example=example,
        at=at,
        names=names or {},
        helps=helps or {},
        fixed=fixed or {},
        base=(BY_ADDRESS[base[0]], base[1]) if base else None,
        columns=columns,
        asks=asks,
        summary=summary,
        extra=extra,
        adapt=adapt,
    )


def group(name: str, short_help: str, commands: Sequence[Command]) -> click.Group:
    """The commands of one noun."""
    made = click.Group(name, help=short_help, short_help=short_help)
    for each in commands:
        made.add_command(built(each))
    return made


def built(command: Command) -> click.Command:
    """The command as the command line has it."""
    options = options_of(command)
    parameters = [*_path_parameters(command), *_switches(command), *command.extra]
    parameters += [
        fields.option(field, name, _help(command, field)) for name, field in options.items()
    ]
    if command.asks:
        parameters.append(click.Option(["--yes"], is_flag=True, help="Don't ask."))
    if _has_secret(command):
        told = "Write the secret there (mode 0600) instead of printing it."
        parameters.append(click.Option(["--secret-file"], metavar="FILE", help=told))
    made = click.Command(
        command.verb,
        params=parameters,
        callback=_callback(command, options),
        help=f"{summary(command)} Example: {command.example}",
        short_help=summary(command),
    )
    return with_place(made)


def with_place(command: click.Command) -> click.Command:
    """The command, with the options that all have: where to work, and how to print."""
    store_flags(command)
    for flag in (
        click.Option(["--url"], metavar="URL", help="A running service, instead of a store."),
        click.Option(
            ["--token-file"],
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="The token for it; else IDP_TOKEN.",
        ),
        click.Option(["--org", "org_id"], metavar="ID", help="The organization to act in."),
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


def summary(command: Command) -> str:
    return command.summary or next(iter(command.operations.values())).summary


def options_of(command: Command) -> dict[str, Field]:
    """The fields that the command offers, by the names of their options."""
    found: dict[tuple[str, ...], Field] = {}
    for operation in command.operations.values():
        if operation.request is not None:
            for field in fields.fields_of(operation.request):
                found[field.path] = fields.joined(found.get(field.path), field)
    offered = [
        each
        for each in found.values()
        if each.path[0] not in command.fixed and _named(command, each) != HIDDEN
    ]
    short = [fields.option_name(each) for each in offered]
    named: dict[str, Field] = {}
    for field, name in zip(offered, short, strict=True):
        is_alone = short.count(name) == 1 and name not in _TAKEN
        named[_named(command, field) or (name if is_alone else _long(field))] = field
    return named


_TAKEN: Final = ("url", "token-file", "org", "format", "get", "yes", "data", "store", "config")


def _named(command: Command, field: Field) -> str | None:
    if field.dotted in command.names:
        return command.names[field.dotted]
    for start, name in command.names.items():
        if start.endswith(".") and field.dotted.startswith(start):
            return f"{name}-{fields.option_name(field)}" if name else HIDDEN
    return None


def _long(field: Field) -> str:
    return "-".join(fields.kebab(part) for part in field.path[-2:])


def _help(command: Command, field: Field) -> str:
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
            made.append(click.Argument([_label(name)], metavar=metavar))
        else:
            flag = [_path_option(name), _label(name)]
            made.append(click.Option(flag, metavar="ID", required=is_one, help="Where it is."))
    return made


def _label(name: str) -> str:
    """By which name click hands over a value of the path."""
    return "at_" + fields.kebab(name).replace("-", "_")


def _path_option(name: str) -> str:
    return f"--{fields.kebab(name.removesuffix('Id'))}"


def _switches(command: Command) -> list[click.Parameter]:
    return [
        click.Option([f"--{name}", f"for_{name}"], is_flag=True, help="Of the whole instance.")
        for name, operation in command.operations.items()
        if name and command.adapt is None and not _by_values(command)
    ]


def _by_values(command: Command) -> bool:
    """Whether the values of the path tell the operations apart."""
    kinds = {tuple(each.parameters) for each in command.operations.values()}
    return len(kinds) == len(command.operations) > 1


def _has_secret(command: Command) -> bool:
    from msgspec.structs import fields as members

    return any(
        member.encode_name in output.SECRETS
        for operation in command.operations.values()
        for member in members(operation.answer)
    )


def place_of(given: dict[str, Any]) -> Place:
    """Where the command works; takes those of its options out."""
    return Place(
        url=given.pop("url"),
        token_file=given.pop("token_file"),
        org_id=given.pop("org_id"),
        config_file=given.pop("config_file"),
        flags={name: given.pop(name) for name in ("data", "store")},
    )


def _callback(command: Command, options: Mapping[str, Field]) -> Callable[..., None]:
    def run(**given: Any) -> None:
        place = place_of(given)
        how, get = given.pop("how"), given.pop("get")
        operation, values = chosen(command, given)
        if command.asks and not given.pop("yes"):
            _ask(command.asks.format(*values))

        async def carried_out(backend: Backend) -> None:
            said = said_by(command, options, given, backend)
            meant = operation
            if command.adapt is not None:
                name, said = command.adapt(said, given)
                meant = command.operations[name]
            document, seen = await body(command, meant, values, said, backend)
            with output.secret_file(given.get("secret_file")) as keep:
                answer = await backend.call(meant, values, document, seen)
                keep(answer)
            show(answer, how, get, command.columns)

        carry_out(place, carried_out)

    return run


def carry_out(place: Place, work: Callable[[Backend], Any]) -> None:
    """Do `work` at that place, and end the program."""

    async def at_place() -> None:
        async with opened(place) as backend:
            await work(backend)

    raise SystemExit(exits.guarded(lambda: asyncio.run(at_place())))


def chosen(command: Command, given: Mapping[str, Any]) -> tuple[Operation, list[str]]:
    """The operation that is meant, and the values of its path. Raises click.UsageError."""
    names = {name for each in command.operations.values() for name in each.parameters}
    values = {name: value for name in names if (value := given[_label(name)]) is not None}
    switched = [each for name, each in command.operations.items() if given.get(f"for_{name}")]
    for operation in switched or command.operations.values():
        if set(operation.parameters) == set(values):
            return operation, [values[each] for each in operation.parameters]
    ways = [
        " and ".join(_path_option(name) for name in each.parameters if name != command.at)
        for each in command.operations.values()
    ]
    raise click.UsageError(f"it takes {', or '.join(ways)}")


def said_by(
    command: Command, options: Mapping[str, Field], given: Mapping[str, Any], backend: Backend
) -> Document:
    """What the command line says of the body. Raises click.UsageError."""
    document: Document = {}
    for name, value in command.fixed.items():
        fields.put(document, (name,), value)
    for name, field in options.items():
        value = given.get(name.replace("-", "_"))
        if value not in (None, ()):
            fields.put(document, field.path, fields.value_of(field, value, backend.clock))
        elif field.path[-1] in _PASSWORDS and (password := fields.password_of_environment()):
            fields.put(document, field.path, password)
    return document


_PASSWORDS: Final = ("password", "newPassword")


async def body(
    command: Command, operation: Operation, values: Sequence[str], said: Document, backend: Backend
) -> tuple[Document | None, int | None]:
    """What the operation is sent, None where it takes nothing, and which state that replaces.

    Raises IdpError, StorageError.
    """
    if operation.request is None:
        return None, None
    if command.base is None:
        return said, None
    read, path = command.base
    found = await backend.call(read, values)
    sequence = found.get("details", {}).get("sequence")
    for name in path.split(".") if path else ():
        found = found.get(name, {})
    known = {field.path[0] for field in fields.fields_of(operation.request)}
    kept = {name: value for name, value in found.items() if name in known}
    return kept | said, int(sequence) if sequence and operation.is_conditional else None


def show(answer: Document, how: Format, get: str | None, columns: Sequence[str]) -> None:
    """Print the answer, and say what people ought to know of it."""
    for name in output.SECRETS:
        if name in answer and not get:
            output.say(f"{name} is shown this once; keep it now")
    text = output.field(answer, get) if get else output.printed(answer, how, columns)
    if text:
        click.echo(text)
    following = answer.get("nextCursor")
    if following and how == "table" and not get:
        output.say(f"there are more: --cursor {following}")


def _ask(question: str) -> None:
    click.confirm(question, abort=True, err=True)
