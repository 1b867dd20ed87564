"""Declarative commands: the operation that a command carries out, and the names of its options.

Everything else, such as help, formats and exit codes, is derived from the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import click
from msgspec import Struct

from idp.api.operation import Operation
from idp.cli.document import Document

HIDDEN: Final = ""
_LISTING: Final = ("list", "create", "add", "search")


Adapt = Callable[[Document, Mapping[str, Any]], tuple[str, Document]]


class Command(Struct, frozen=True, kw_only=True):
    """The description of one command, from which the click command is built.

    `operations` has one operation, or several among which the options choose: `--instance` chooses
    the one of that name, otherwise the one whose path parameters are all given.

    `argument` is the path parameter that is an argument; the others are options, `--project` for
    `projectId`. `names` are option names that differ from the derived ones, by the field's path or
    by a common prefix of several (HIDDEN: no option), and `help_texts` are help texts of options.
    `fixed` are members that the body always has; `only` limits the fields that have options.
    `base` names an operation that reads what the body replaces, and its member in the answer:
    fields that are not given keep their values. If that answer is only inherited (`isDefault`),
    the operation `creation` is called in place of the replacing one. `columns` are the columns of
    a table; `multiline_fields` maps fields of several lines, which a table omits, to the command
    line that prints them. `confirm` is a question that the user must confirm.

    `switches` are the help texts of options that choose an operation, by the name of the
    operation. `adapt` builds the body and chooses the operation by its name, from the fields'
    values and the options in `extra`.
    """

    verb: str
    operations: Mapping[str, Operation]
    example: str
    argument: str = ""
    names: Mapping[str, str] = {}
    help_texts: Mapping[str, str] = {}
    fixed: Document = {}
    only: Sequence[str] = ()
    base: Mapping[str, tuple[Operation, str]] = {}
    creation: Operation | None = None
    columns: Sequence[str] = ()
    multiline_fields: Mapping[str, str] = {}
    confirm: str = ""
    summary: str = ""
    switches: Mapping[str, str] = {}
    extra: Sequence[click.Parameter] = ()
    adapt: Adapt | None = None


def command(
    verb: str,
    operation: Operation | Mapping[str, Operation],
    example: str,
    *,
    argument: str | None = None,
    names: Mapping[str, str] | None = None,
    help_texts: Mapping[str, str] | None = None,
    fixed: Document | None = None,
    only: Sequence[str] = (),
    base: tuple[Operation, str] | Mapping[str, tuple[Operation, str]] = MappingProxyType({}),
    creation: Operation | None = None,
    columns: Sequence[str] = (),
    multiline_fields: Mapping[str, str] | None = None,
    confirm: str = "",
    summary: str = "",
    switches: Mapping[str, str] | None = None,
    extra: Sequence[click.Parameter] = (),
    adapt: Adapt | None = None,
) -> Command:
    """Returns the description of a command for an operation, or for several by name.

    `argument` is by default the last path parameter; the other arguments are fields of `Command`.
    """
    operations = {"": operation} if isinstance(operation, Operation) else operation
    if argument is None:
        last = next(iter(operations.values())).parameters[-1:]
        argument = "" if verb in _LISTING or not last else last[0]
    return Command(
        verb=verb,
        operations=operations,
        example=example,
        argument=argument,
        names=names or {},
        help_texts=help_texts or {},
        fixed=fixed or {},
        only=only,
        base=base if isinstance(base, Mapping) else {"": base},
        creation=creation,
        columns=columns,
        multiline_fields=multiline_fields or {},
        confirm=confirm,
        summary=summary,
        switches=switches or {},
        extra=extra,
        adapt=adapt,
    )


def with_instance(own: Operation, instance: Operation) -> dict[str, Operation]:
    """Returns the operation for an organization, and the one that `--instance` chooses."""
    return {"": own, "instance": instance}


def summary(command: Command) -> str:
    """Returns the sentence that describes the command in its help: its own, or that of its first
    operation.
    """
    return command.summary or next(iter(command.operations.values())).summary


def is_chosen_by_values(command: Command) -> bool:
    """Returns whether the command has several operations, all with different path parameters, so
    that the given parameters choose one.
    """
    kinds = {tuple(each.parameters) for each in command.operations.values()}
    return len(kinds) == len(command.operations) > 1
