"""What another system says of itself, made such that this one can have it.

A package of another system holds settings that this service has otherwise or not at all. They are
no mistakes of whoever has the package: each is left out, with a warning that names it, and the
rest is stored. A number beyond what can be set is set to what comes nearest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from idp.foundation.errors import FieldProblem
from idp.schema import reading
from idp.schema.field_rules import Integer
from idp.schema.reading import DeclaredField, Request
from idp.transfer.package.rows import RowProblem

_ROUNDS: Final = 8  # what is left out can make something else unfit
_PLACE: Final = re.compile(r"(\w+)(?:\[(\d+)\])?")
_NOTHING: Final[Mapping[str, str]] = {}
# What no system means: the row is refused as a whole.
_MISTAKES: Final = frozenset(
    {
        "field.wrong_type",
        "field.duplicate",
        "field.conflict",
        "field.required",
        "field.too_many",
        "field.unknown",  # a warning by itself
    }
)


def eased(
    form: type[Request], document: object, instead: Mapping[str, str] = _NOTHING
) -> tuple[object, list[RowProblem]]:
    """The document without what the form has no room for, and a warning for each of it.

    `instead` tells what is left out where what is unfit is not said: the colour of the ground,
    on which the service's own can't be read.
    """
    warnings: list[RowProblem] = []
    for _ in range(_ROUNDS):
        _, problems = reading.collect(form, document)
        unfit = [each for each in problems if each.slug not in _MISTAKES]
        if not unfit or not isinstance(document, dict):
            break
        warnings += [_warning(each) for each in unfit]
        document = _without(form, document, unfit, instead)
    return document, warnings


def _warning(found: FieldProblem) -> RowProblem:
    return RowProblem(
        slug=found.slug,
        field=found.field,
        message=f"{found.message}; it is left out, or set to what comes nearest",
        fix="Look at the setting after the import.",
        is_error=False,
    )


def _without(
    form: type[Request],
    document: Mapping[str, Any],
    unfit: Iterable[FieldProblem],
    instead: Mapping[str, str],
) -> dict[str, Any]:
    fields = {each.wire_name: each for each in reading.declared(form)}
    left, gone = dict(document), dict[str, set[int]]()
    for problem in unfit:
        place = _PLACE.match(problem.field)
        field = fields.get(place[1]) if place else None
        if place is None or field is None:
            continue
        name = _spelled(field, left)
        if name not in left and field.wire_name in instead:
            name = _spelled(fields[instead[field.wire_name]], left)
        if place[2]:
            gone.setdefault(name, set()).add(int(place[2]))
        elif problem.slug == "field.out_of_range" and isinstance(field.rule, Integer):
            left[name] = min(max(int(left[name]), field.rule.min), field.rule.max)
        else:
            left.pop(name, None)
    for name, numbers in gone.items():
        left[name] = [each for n, each in enumerate(left[name]) if n not in numbers]
    return left


def _spelled(field: DeclaredField, document: Mapping[str, Any]) -> str:
    """How a member is written in this document."""
    return field.wire_name if field.wire_name in document else field.name
