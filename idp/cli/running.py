"""Runs a command: builds the request, carries it out and prints the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

import click

from idp.api.operation import Operation
from idp.cli import fields, output, proposals, queries
from idp.cli.backends import Backend, BackendLocation, open_backend
from idp.cli.command import Command
from idp.cli.document import Document
from idp.cli.fields import FieldOption
from idp.cli.output import Format
from idp.foundation.errors import IdpError
from idp.start import exit_codes


def location_of(option_values: dict[str, Any]) -> BackendLocation:
    """Returns the location on which the command works, and removes the options that state it from
    `option_values`, the values of all options.
    """
    return BackendLocation(
        url=option_values.pop("url"),
        token_file=option_values.pop("token_file"),
        org_id=option_values.pop("org_id"),
        config_file=option_values.pop("config_file"),
        flags={name: option_values.pop(name) for name in ("data", "store")},
    )


def callback(command: Command, options: Mapping[str, FieldOption]) -> Callable[..., None]:
    """Returns the function that click calls with the values of the command's options and
    arguments. `options` are the options for fields of the request, by name (`options_of`).
    """

    def run(**option_values: Any) -> None:
        location = location_of(option_values)
        output_format, get = option_values.pop("output_format"), option_values.pop("get")
        operation, values = choose_operation(command, option_values)
        if get:
            output.check_field(operation.answer, get)
        if command.confirm and not option_values.pop("yes"):
            _ask(command.confirm.format(*values))

        async def run_on(backend: Backend) -> None:
            given_values = given_body(command, options, option_values, backend)
            final_operation = operation
            if command.adapt is not None:
                name, given_values = command.adapt(given_values, option_values)
                final_operation = command.operations[name]
            final_operation, document, if_match = await body(
                command, final_operation, values, given_values, backend
            )
            document = await proposals.with_allowed_users(
                backend, final_operation, values, document
            )
            with output.secret_file(option_values.get("secret_file")) as store_secrets:
                if option_values.get("every") and document is not None:
                    answer = await queries.all_pages(backend, final_operation, values, document)
                else:
                    answer = await backend.call(final_operation, values, document, if_match)
                store_secrets(answer)
            show_answer(command, values, answer, document, output_format, get)

        carry_out(location, run_on, options)

    return run


def carry_out(
    location: BackendLocation,
    work: Callable[[Backend], Any],
    options: Mapping[str, FieldOption] = {},
) -> None:
    """Calls `work` with the back end of this location, and ends the program with the exit code of
    its outcome. Errors name the `options` for fields of the request, instead of these.
    """

    async def at_location() -> None:
        async with open_backend(location) as backend:
            try:
                await work(backend)
            except IdpError as error:
                fields.name_options(error, options)
                raise

    raise SystemExit(exit_codes.guarded(lambda: asyncio.run(at_location())))


def choose_operation(
    command: Command, option_values: Mapping[str, Any]
) -> tuple[Operation, list[str]]:
    """Returns the operation that the values of the command's parameters (`option_values`) choose,
    and the values of its path parameters. Raises click.UsageError.
    """
    names = {name for each in command.operations.values() for name in each.parameters}
    values = {
        name: value
        for name in names
        if (value := option_values[fields.parameter_name(name)]) is not None
    }
    switched = [
        each for name, each in command.operations.items() if option_values.get(f"for_{name}")
    ]
    for operation in switched or command.operations.values():
        if set(operation.parameters) == set(values):
            return operation, [values[each] for each in operation.parameters]
    alternatives = [
        " and ".join(
            fields.path_option(name) for name in each.parameters if name != command.path_argument
        )
        for each in command.operations.values()
    ]
    raise click.UsageError(f"it takes {', or '.join(alternatives)}")


def given_body(
    command: Command,
    options: Mapping[str, FieldOption],
    option_values: Mapping[str, Any],
    backend: Backend,
) -> Document:
    """Returns the body that the values in `option_values` make up. `options` are the options for
    fields of the request, by name. Raises click.UsageError.
    """
    document: Document = deepcopy(command.fixed)
    for name, field in options.items():
        value = option_values.get(name.replace("-", "_"))
        if value not in (None, ()):
            put = queries.put if queries.is_filter(field) else fields.put
            put(document, field, fields.value_of(field, value, backend.clock))
        elif field.path[-1] in _PASSWORDS and (password := fields.password_of_environment()):
            fields.put(document, field, password)
    return document


_PASSWORDS: Final = ("password", "newPassword")


async def body(
    command: Command,
    operation: Operation,
    values: Sequence[str],
    given_values: Document,
    backend: Backend,
) -> tuple[Operation, Document | None, int | None]:
    """Returns the operation to call, its body (None if it takes none), and the expected `sequence`
    of the record that it replaces (None for any).

    If the body replaces a whole record (`Command.base`), the stored record is read first, and
    fields that are not in `given_values` keep their values. Raises IdpError, StorageError.
    """
    if operation.request is None:
        return operation, None, None
    name = next((name for name, each in command.operations.items() if each is operation), "")
    if name not in command.bases:
        return operation, given_values, None
    reading, path = command.bases[name]
    answer = record = await backend.call(reading, values)
    for part in path.split(".") if path else ():
        record = record.get(part, {})
    field_names = {field.path[0] for field in fields.fields_of(operation.request)}
    stored = {each: value for each, value in record.items() if each in field_names}
    document = _merge(stored, given_values)
    if answer.get("isDefault"):  # inherited, so there is no version of its own to replace
        return (command.creation or operation) if not name else operation, document, None
    sequence = answer.get("details", {}).get("sequence")
    if_match = int(sequence) if sequence and operation.is_conditional else None
    return operation, document, if_match


def _merge(stored: Document, given: Document) -> Document:
    """Returns the stored values, replaced by those that are given, also within objects."""
    merged = {**stored, **given}
    for name, value in given.items():
        stored_value = stored.get(name)
        if isinstance(value, dict) and isinstance(stored_value, dict):
            merged[name] = _merge(stored_value, value)
    return merged


def show(answer: Document, output_format: Format, get: str | None, columns: Sequence[str]) -> None:
    """Prints the answer, or only the field at the dotted path `get`. Hints about secrets and
    further pages go to stderr.
    """
    for name in output.secrets_in(answer):
        if not get:
            output.say(f"{name} is shown only once; store it now")
    text = output.field(answer, get) if get else output.formatted(answer, output_format, columns)
    if text:
        click.echo(text)
    next_cursor = answer.get("nextCursor")
    if next_cursor and output_format == "table" and not get:
        output.say(f"there are more: --cursor {next_cursor}")


def show_answer(
    command: Command,
    values: Sequence[str],
    answer: Document,
    document: Document | None,
    output_format: Format,
    get: str | None,
) -> None:
    """Prints the answer of a command, whose body was `document`. A table omits the fields in
    `Command.multiline_fields`, and a hint names the command line that prints each. `values` are
    those of the path parameters.
    """
    for name, line in command.multiline_fields.items():
        if output_format == "table" and not get and answer.pop(name, None) is not None:
            output.say(f"{name} is not shown here: {line.format(*values)}")
    if command.shows and output_format == "table" and not get:
        answer = {command.shows: document, **answer}
    show(answer, output_format, get, command.columns)


def _ask(question: str) -> None:
    click.confirm(question, abort=True, err=True)
