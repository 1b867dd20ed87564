"""Commands as data: which operation a command carries out, and what its arguments are called.

Everything else, options, help, formats and exit codes, follows from the operation itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import click
from msgspec import Struct

from idp.api import OPERATIONS
from idp.api.operation import Operation
from idp.cli.document import Document

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
    path, or by the beginning of several (HIDDEN: there is none). `fixed` is what the body always
    has, `only` are the fields that are offered if not all of them are. `base` reads what a body
    replaces as a whole, and says where it is in the answer: what is not given stays. What is only
    inherited so far (`isDefault`) is made by `first`. `columns` are what a table of the answer
    shows; `left_out` are fields of several lines that it does not, by the command that prints
    them. What `asks` is done only by those who mean it.

    `switches` say what an option is about that chooses an operation. `adapt` makes the body, and
    chooses the operation by its name, of what the fields gave and of the options in `extra`.
    """

    verb: str
    operations: Mapping[str, Operation]
    example: str
    at: str = ""
    names: Mapping[str, str] = {}
    helps: Mapping[str, str] = {}
    fixed: Document = {}
    only: Sequence[str] = ()
    base: Mapping[str, tuple[Operation, str]] = {}
    first: Operation | None = None
    columns: Sequence[str] = ()
    left_out: Mapping[str, str] = {}
    asks: str = ""
    summary: str = ""
    switches: Mapping[str, str] = {}
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
    only: Sequence[str] = (),
    base: tuple[str, str] | Mapping[str, tuple[str, str]] = MappingProxyType({}),
    first: str = "",
    columns: Sequence[str] = (),
    left_out: Mapping[str, str] | None = None,
    asks: str = "",
    summary: str = "",
    switches: Mapping[str, str] | None = None,
    extra: Sequence[click.Parameter] = (),
    adapt: Adapt | None = None,
) -> Command:
    """The command for these operations. `at` is the last value of the path if it isn't named."""
    addresses = {"": address} if isinstance(address, str) else address
    operations = {name: BY_ADDRESS[each] for name, each in addresses.items()}
    bases = base if isinstance(base, Mapping) else {"": base}
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
        only=only,
        base={name: (BY_ADDRESS[each[0]], each[1]) for name, each in bases.items()},
        first=BY_ADDRESS[first] if first else None,
        columns=columns,
        left_out=left_out or {},
        asks=asks,
        summary=summary,
        switches=switches or {},
        extra=extra,
        adapt=adapt,
    )


def summary(command: Command) -> str:
    """What it does, in one sentence."""
    return command.summary or next(iter(command.operations.values())).summary


def tells_by_values(command: Command) -> bool:
    """Whether the values of the path tell the operations apart."""
    kinds = {tuple(each.parameters) for each in command.operations.values()}
    return len(kinds) == len(command.operations) > 1
