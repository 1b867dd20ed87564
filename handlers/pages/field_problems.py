"""The position at which a page displays a problem: at its field, or in a box above the form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Problem = Mapping[str, object]


def problems_of(problems: Sequence[Problem], field: str) -> list[object]:
    """Returns the texts of those problems whose `field` is this field."""
    return [problem["text"] for problem in problems if problem["field"] == field]


def only_field(problems: Sequence[Problem], retry_seconds: int | None) -> object:
    """Returns the field that all problems belong to; None if they belong to several or none, or
    if the user has to wait."""
    fields = {problem["field"] for problem in problems}
    return fields.pop() if len(fields) == 1 and retry_seconds is None else None


def input_attributes(
    name: str, hint: object, problems: Sequence[Problem], retry_seconds: int | None
) -> dict[str, object]:
    """Returns the attributes of an input that name its problems and its hint, and that give it the
    focus if it has the only problems."""
    has_problem = bool(problems_of(problems, name))
    parts = ((has_problem, f"{name}-problem"), (bool(hint), f"{name}-hint"))
    described_by = [element_id for is_present, element_id in parts if is_present]
    values = {
        "aria-invalid": "true" if has_problem else None,
        "aria-describedby": " ".join(described_by) or None,
        "autofocus": only_field(problems, retry_seconds) == name,
    }
    return {key: value for key, value in values.items() if value}
