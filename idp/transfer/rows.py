"""Rows of a package: as they stand there, and what becomes of each."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from idp.requests import Request
from storage import Write

Action = Literal["create", "update", "skip", "fail"]


class Problem(Struct, frozen=True, kw_only=True):
    """What is wrong with a row, or worth knowing; `fix` is what whoever has the file can do."""

    slug: str
    message: str
    field: str = ""
    fix: str = ""
    is_error: bool = True


class Row(Struct, frozen=True, kw_only=True):
    """An element of an organization's list, as it stands in the package.

    `number` counts from 1 in the order in which rows are stored. `path` is where it stands:
    `orgs[0].humanUsers[17]`. `broken` is why it can't be read at all; then there is no `document`.
    """

    number: int
    path: str
    member: str
    org_id: str
    document: object = None
    broken: tuple[Problem, ...] = ()


class Read(Struct, frozen=True):
    """A row with what its kind's request could read of it: everything, and each by its rule."""

    row: Row
    request: Request


class Prepared(Struct, frozen=True, kw_only=True):
    """What is to become of a row: the unit of `writes` that stores it, or why it isn't stored.

    `id` names it in reports, composite ids joined with "_". Problems of a row that does not `fail`
    are warnings.
    """

    action: Action
    id: str
    writes: tuple[Write, ...] = ()
    problems: tuple[Problem, ...] = ()


def refused(id: str, *problems: Problem) -> Prepared:
    """A row that can't be stored."""
    return Prepared(action="fail", id=id, problems=problems)
