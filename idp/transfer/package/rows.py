"""Rows of a package: their content, and the action planned for each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from idp.error_catalogue import ERROR_CODES
from idp.foundation.errors import FieldProblem
from idp.schema.reading import Request
from storage import Collection, Write

Action = Literal["create", "update", "skip", "fail"]

_CAPITAL: Final = re.compile("[A-Z]")


class RowProblem(Struct, frozen=True, kw_only=True):
    """An error or a warning of a row. `fix` describes how the owner of the file can fix it."""

    error_code: str = msgspec.field(name="slug")
    message: str
    field: str = ""
    fix: str = ""
    is_error: bool = True


class Row(Struct, frozen=True, kw_only=True):
    """An element of an organization's list, as the package has it.

    `number` counts from 1 in the order in which rows are stored. `path` is its position in the
    document: `orgs[0].humanUsers[17]`. `broken` are the reasons why it cannot be read; `document`
    then has the texts that identify it, if any. If an earlier row describes the same record,
    `duplicate_of` is the number of the first such row.
    """

    number: int
    path: str
    member: str
    org_id: str
    document: object = None
    broken: tuple[RowProblem, ...] = ()
    duplicate_of: int | None = None


class ParsedRow(Struct, frozen=True):
    """A row together with its document as a typed request, whose fields have all passed their
    rules.
    """

    row: Row
    request: Request


class RowPlan(Struct, frozen=True, kw_only=True):
    """The action planned for a row: its `writes`, which are stored as one unit, or the reason why
    it isn't stored.

    `id` names the row in reports: a composite id is its `parts`, joined with "_". `problems` are
    errors only if the action is `fail`, else warnings. `existing` is the record that the row
    changes or because of which it is skipped, as it was read, with its collection; the record's
    first event shows whether this job created it (`idp/transfer/jobs/import_origin.py`).
    """

    action: Action
    id: str
    parts: tuple[str, ...] = ()
    writes: Sequence[Write] = ()
    problems: tuple[RowProblem, ...] = ()
    existing: tuple[Collection[Any], Any] | None = None


def refused(row_id: str, *problems: RowProblem) -> RowPlan:
    """Returns the plan that refuses a row because of `problems`. `row_id` names the row in
    reports."""
    return RowPlan(action="fail", id=row_id, problems=problems)


def problem(finding: FieldProblem, *, is_error: bool = True) -> RowProblem:
    """Returns a problem of a field as a problem of a row, with the fix from the error
    catalogue.
    """
    code = ERROR_CODES.get(finding.error_code)
    return RowProblem(
        error_code=finding.error_code,
        message=finding.message,
        field=finding.field,
        fix=code.fix if code else "",
        is_error=is_error,
    )


def value_of(document: Mapping[str, Any], name: str) -> Any:
    """Returns the document's value of a member whose name is in camelCase or in snake_case; None
    if absent.
    """
    return document.get(name, document.get(snake_case(name)))


@cache
def snake_case(name: str) -> str:
    """Returns a camelCase name in snake_case."""
    return _CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", name)
