"""Runs a command: builds the request, carries it out and prints the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

import click

from idp.api.operation import Operation
from idp.cli import fields, output, proposals, queries
from idp.cli.backends import Backend, BackendLocation, opened
from idp.cli.command import Command
from idp.cli.document import Document
from idp.cli.fields import FieldOption
from idp.cli.output import Format
from idp.start import exit_codes


def place_of(given: dict[str, Any]) -> BackendLocation:
    """Returns where the command works, and removes the options for that."""
    return BackendLocation(
        url=given.pop("url"),
        token_file=given.pop("token_file"),
        org_id=given.pop("org_id"),
        config_file=given.pop("config_file"),
        flags={name: given.pop(name) for name in ("data", "store")},
    )


def callback(command: Command, options: Mapping[str, FieldOption]) -> Callable[..., None]:
    """Returns the function that click calls with the command's options and arguments."""

    def run(**given: Any) -> None:
        place = place_of(given)
        how, get = given.pop("how"), given.pop("get")
        operation, values = chosen(command, given)
        if get:
            output.check_field(operation.answer, get)
        if command.asks and not given.pop("yes"):
            _ask(command.asks.format(*values))

        async def carried_out(backend: Backend) -> None:
            said = said_by(command, options, given, backend)
            meant = operation
            if command.adapt is not None:
                name, said = command.adapt(said, given)
                meant = command.operations[name]
            meant, document, seen = await body(command, meant, values, said, backend)
            document = await proposals.completed(backend, meant, values, document)
            with output.secret_file(given.get("secret_file")) as keep:
                if given.get("every") and document is not None:
                    answer = await queries.all_pages(backend, meant, values, document)
                else:
                    answer = await backend.call(meant, values, document, seen)
                keep(answer)
            show_answer(command, values, answer, how, get)

        carry_out(place, carried_out)

    return run


def carry_out(place: BackendLocation, work: Callable[[Backend], Any]) -> None:
    """Runs `work` on the back end of this location, and ends the program with its exit code."""

    async def at_place() -> None:
        async with opened(place) as backend:
            await work(backend)

    raise SystemExit(exit_codes.guarded(lambda: asyncio.run(at_place())))


def chosen(command: Command, given: Mapping[str, Any]) -> tuple[Operation, list[str]]:
    """Returns the chosen operation and its path values. Raises click.UsageError."""
    names = {name for each in command.operations.values() for name in each.parameters}
    values = {name: value for name in names if (value := given[fields.label_of(name)]) is not None}
    switched = [each for name, each in command.operations.items() if given.get(f"for_{name}")]
    for operation in switched or command.operations.values():
        if set(operation.parameters) == set(values):
            return operation, [values[each] for each in operation.parameters]
    ways = [
        " and ".join(fields.path_option(name) for name in each.parameters if name != command.at)
        for each in command.operations.values()
    ]
    raise click.UsageError(f"it takes {', or '.join(ways)}")


def said_by(
    command: Command,
    options: Mapping[str, FieldOption],
    given: Mapping[str, Any],
    backend: Backend,
) -> Document:
    """Returns the part of the body that the command line gives. Raises click.UsageError."""
    document: Document = deepcopy(command.fixed)
    for name, field in options.items():
        value = given.get(name.replace("-", "_"))
        if value not in (None, ()):
            put = queries.put if queries.is_filter(field) else fields.put
            put(document, field, fields.value_of(field, value, backend.clock))
        elif field.path[-1] in _PASSWORDS and (password := fields.password_of_environment()):
            fields.put(document, field, password)
    return document


_PASSWORDS: Final = ("password", "newPassword")


async def body(
    command: Command, operation: Operation, values: Sequence[str], said: Document, backend: Backend
) -> tuple[Operation, Document | None, int | None]:
    """Returns the operation, its body (None if it takes none), and the version that it replaces.
    Raises IdpError, StorageError."""
    if operation.request is None:
        return operation, None, None
    name = next((name for name, each in command.operations.items() if each is operation), "")
    if name not in command.base:
        return operation, said, None
    read, path = command.base[name]
    answer = found = await backend.call(read, values)
    for part in path.split(".") if path else ():
        found = found.get(part, {})
    known = {field.path[0] for field in fields.fields_of(operation.request)}
    document = {each: value for each, value in found.items() if each in known} | said
    if answer.get("isDefault"):  # inherited, so there is no version of its own to replace
        return (command.first or operation) if not name else operation, document, None
    sequence = answer.get("details", {}).get("sequence")
    seen = int(sequence) if sequence and operation.is_conditional else None
    return operation, document, seen


def show(answer: Document, how: Format, get: str | None, columns: Sequence[str]) -> None:
    """Prints the answer, with hints about secrets and further pages on stderr."""
    for name in output.secrets_in(answer):
        if not get:
            output.say(f"{name} is shown this once; keep it now")
    text = output.field(answer, get) if get else output.printed(answer, how, columns)
    if text:
        click.echo(text)
    following = answer.get("nextCursor")
    if following and how == "table" and not get:
        output.say(f"there are more: --cursor {following}")


def show_answer(
    command: Command, values: Sequence[str], answer: Document, how: Format, get: str | None
) -> None:
    """Prints the answer of a command. A table omits fields of several lines, and names the command
    that prints them."""
    for name, line in command.left_out.items():
        if how == "table" and not get and answer.pop(name, None) is not None:
            output.say(f"{name} is not shown here: {line.format(*values)}")
    show(answer, how, get, command.columns)


def _ask(question: str) -> None:
    click.confirm(question, abort=True, err=True)
