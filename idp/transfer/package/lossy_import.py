"""Settings of another system's package, reduced to what this service can store.

A package of another system holds settings that this service does not have, or has in another form.
They are no mistakes of the caller: each is removed with a warning that names it, and the other
settings are stored. A number out of range is set to the nearest allowed value.
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

_MAX_ATTEMPTS: Final = 8  # removing one field can make another one invalid
_PATH_PART: Final = re.compile(r"(\w+)(?:\[(\d+)\])?")
_NO_REPLACEMENTS: Final[Mapping[str, str]] = {}
# Mistakes in any system's package: the row is refused as a whole.
_CALLER_ERRORS: Final = frozenset(
    {
        "field.wrong_type",
        "field.duplicate",
        "field.conflict",
        "field.required",
        "field.too_many",
        "field.unknown",  # a warning by itself
    }
)


def adapted(
    form: type[Request], document: object, instead: Mapping[str, str] = _NO_REPLACEMENTS
) -> tuple[object, list[RowProblem]]:
    """Returns the document without the settings that the request struct `form` refuses, or with
    values that it accepts, and a warning for each setting that was removed or changed.

    `instead` is for a refused field that the document does not have: it maps that field to the one
    that is left out in its place. For instance, a background colour is left out if the service's
    own font colour cannot be read on it.
    """
    warnings: list[RowProblem] = []
    for _ in range(_MAX_ATTEMPTS):
        _, problems = reading.collect(form, document)
        unusable = [each for each in problems if each.error_code not in _CALLER_ERRORS]
        if not unusable or not isinstance(document, dict):
            break
        warnings += [_warning(each) for each in unusable]
        document = _without(form, document, unusable, instead)
    return document, warnings


def _warning(problem: FieldProblem) -> RowProblem:
    return RowProblem(
        error_code=problem.error_code,
        field=problem.field,
        message=f"{problem.message}; it is left out, or set to the nearest allowed value",
        fix="Check the setting after the import.",
        is_error=False,
    )


def _without(
    form: type[Request],
    document: Mapping[str, Any],
    unusable: Iterable[FieldProblem],
    instead: Mapping[str, str],
) -> dict[str, Any]:
    fields = {each.wire_name: each for each in reading.declared(form)}
    reduced, removed_indexes = dict(document), dict[str, set[int]]()
    for problem in unusable:
        match = _PATH_PART.match(problem.field)
        field = fields.get(match[1]) if match else None
        if match is None or field is None:
            continue
        name = _name_in(field, reduced)
        if name not in reduced and field.wire_name in instead:
            name = _name_in(fields[instead[field.wire_name]], reduced)
        if match[2]:
            removed_indexes.setdefault(name, set()).add(int(match[2]))
        elif problem.error_code == "field.out_of_range" and isinstance(field.rule, Integer):
            reduced[name] = min(max(int(reduced[name]), field.rule.min), field.rule.max)
        else:
            reduced.pop(name, None)
    for name, numbers in removed_indexes.items():
        reduced[name] = [each for n, each in enumerate(reduced[name]) if n not in numbers]
    return reduced


def _name_in(field: DeclaredField, document: Mapping[str, Any]) -> str:
    """Returns the name under which the document has the field."""
    return field.wire_name if field.wire_name in document else field.name
