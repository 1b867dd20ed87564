"""Rows of a package: as they stand there, and what becomes of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal

from msgspec import Struct

from idp.error_catalogue import SLUGS
from idp.foundation.errors import FieldProblem
from idp.schema.reading import Request
from storage import Collection, Write

Action = Literal["create", "update", "skip", "fail"]

_CAPITAL: Final = re.compile("[A-Z]")


class RowProblem(Struct, frozen=True, kw_only=True):
    """What is wrong with a row, or worth knowing; `fix` is what whoever has the file can do."""

    slug: str
    message: str
    field: str = ""
    fix: str = ""
    is_error: bool = True


class Row(Struct, frozen=True, kw_only=True):
    """An element of an organization's list, as it stands in the package.

    `number` counts from 1 in the order in which rows are stored. `path` is where it stands:
    `orgs[0].humanUsers[17]`. `broken` is why it can't be read at all; `document` then has what it
    can be told by, if anything. `double_of` is the number of the first row of the same record, of
    one that is not the first.
    """

    number: int
    path: str
    member: str
    org_id: str
    document: object = None
    broken: tuple[RowProblem, ...] = ()
    double_of: int | None = None


class Read(Struct, frozen=True):
    """A row with what its kind's request could read of it: everything, and each by its rule."""

    row: Row
    request: Request


class PreparedRow(Struct, frozen=True, kw_only=True):
    """What is to become of a row: the unit of `writes` that stores it, or why it isn't stored.

    `id` names it in reports: a composite one is its `parts`, joined with "_". Problems of a row
    that does not `fail` are warnings. `met` is the record that is there already, as it was read,
    of a row that is skipped or changes it: whose own it is, tells the record's first event
    (`idp/transfer/jobs/import_origin.py`).
    """

    action: Action
    id: str
    parts: tuple[str, ...] = ()
    writes: Sequence[Write] = ()
    problems: tuple[RowProblem, ...] = ()
    met: tuple[Collection[Any], Any] | None = None


def refused(id: str, *problems: RowProblem) -> PreparedRow:
    """A row that can't be stored."""
    return PreparedRow(action="fail", id=id, problems=problems)


def problem(found: FieldProblem, *, is_error: bool = True) -> RowProblem:
    """What a row's reader found, for the report; the cure is the catalogue's."""
    known = SLUGS.get(found.slug)
    return RowProblem(
        slug=found.slug,
        message=found.message,
        field=found.field,
        fix=known.cure if known else "",
        is_error=is_error,
    )


def value_of(document: Mapping[str, Any], name: str) -> Any:
    """What stands in a document under a name, in camelCase or in snake_case; None: nothing."""
    return document.get(name, document.get(snake_case(name)))


@cache
def snake_case(name: str) -> str:
    """A name that is in camelCase, as others write it."""
    return _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name)
