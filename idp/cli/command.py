"""Declarative commands: the operation that a command carries out, and the names of its options.

Everything else, such as help, formats and exit codes, is derived from the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import click
from msgspec import Struct

from idp.api.operation import Operation
from idp.cli.document import Document

HIDDEN: Final = ""
_LISTING: Final = ("list", "create", "add", "search")


Adapt = Callable[[Document, Mapping[str, Any]], tuple[str, Document]]


class Command(Struct, frozen=True):
    """The description of one command, from which the click command is built.

    `operation` is one operation, or several by name among which the options choose: `--instance`
    chooses the one of that name, otherwise the one whose path parameters are all given.

    `argument` is the path parameter that is an argument, by default the last; the others are
    options, `--project` for `projectId`. `names` are option names that differ from the derived
    ones, by the field's path or by a common prefix of several (HIDDEN: no option), and
    `help_texts` are help texts of options.
    `fixed` are members that the body always has; `only` limits the fields that have options.
    `base` names an operation that reads what the body replaces, and its member in the answer:
    fields that are not given keep their values. If that answer is only inherited (`isDefault`),
    the operation `creation` is called in place of the replacing one. `columns` are the columns of
    a table; `multiline_fields` maps fields of several lines, which a table omits, to the command
    line that prints them. `confirm` is a question that the user must confirm.

    `switches` are the help texts of options that choose an operation, by the name of the
    operation. `adapt` builds the body and chooses the operation by its name, from the fields'
    values and the options in `extra`. With `shows`, a table has the body as this member of an
    answer that doesn't repeat it.
    """

    verb: str
    operation: Operation | Mapping[str, Operation]
    example: str
    argument: str | None = None
    names: Mapping[str, str] = {}
    help_texts: Mapping[str, str] = {}
    fixed: Document = {}
    only: Sequence[str] = ()
    base: tuple[Operation, str] | Mapping[str, tuple[Operation, str]] = {}
    creation: Operation | None = None
    columns: Sequence[str] = ()
    multiline_fields: Mapping[str, str] = {}
    confirm: str = ""
    summary: str = ""
    switches: Mapping[str, str] = {}
    extra: Sequence[click.Parameter] = ()
    adapt: Adapt | None = None
    shows: str = ""

    @property
    def operations(self) -> Mapping[str, Operation]:
        return {"": self.operation} if isinstance(self.operation, Operation) else self.operation

    @property
    def bases(self) -> Mapping[str, tuple[Operation, str]]:
        return {"": self.base} if isinstance(self.base, tuple) else self.base

    @property
    def path_argument(self) -> str:
        """The name of the path parameter that is an argument; an empty text for none."""
        if self.argument is not None:
            return self.argument
        last = next(iter(self.operations.values())).parameters[-1:]
        return "" if self.verb in _LISTING or not last else last[0]


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
