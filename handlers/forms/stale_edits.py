"""Edits of a record that another person has changed since the form was rendered.

A form has the version of the record that it was rendered from, and a digest of each field's value
in it. So a page that refuses a stale edit can show what the other change was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from handlers.forms import cells, durations, fields
from handlers.forms.cells import Cell
from handlers.forms.fields import FormField, Values
from idp.oauth.params import Params

SEEN: Final = "seen"
_SEPARATOR: Final = "."
_CHARACTERS: Final = 12


def version_inputs(
    form_fields: Sequence[FormField], loaded: dict[str, Any], stored: Values
) -> dict[str, str]:
    """Returns the hidden inputs with the version of a loaded record and the digests of its values;
    none if the record has no version."""
    sequence = fields.value_at(loaded, "details.sequence")
    if not sequence:
        return {}
    return {fields.SEQUENCE: str(sequence), SEEN: _SEPARATOR.join(_digests(form_fields, stored))}


def version_of(form: Params) -> dict[str, str]:
    """Returns the same inputs as a form has sent them, for the form to be rendered again."""
    return {name: value for name in (fields.SEQUENCE, SEEN) if (value := form.get(name))}


def other_changes(
    form_fields: Sequence[FormField], form: Params, entered: Values, stored: Values
) -> list[dict[str, object]]:
    """Returns the labels and the stored values (`cells.labelled_cell`) of the fields whose stored
    value has changed since the form was rendered, and differs from the entered one.

    For a form without digests, they are all fields whose stored value differs from the entered
    one. Passwords are left out.
    """
    seen, now = (form.get(SEEN) or "").split(_SEPARATOR), _digests(form_fields, stored)
    before: Sequence[str | None] = seen if len(seen) == len(now) else [None] * len(now)
    return [
        cells.labelled_cell(field.label, _cell(field, stored[field.path]))
        for field, old, new in zip(form_fields, before, now, strict=True)
        if old != new and field.kind != "password"
        if _comparable(stored[field.path]) != _comparable(entered[field.path])
    ]


def _digests(form_fields: Sequence[FormField], values: Values) -> list[str]:
    encoded = (msgspec.json.encode(values[field.path]) for field in form_fields)
    return [hashlib.sha256(each).hexdigest()[:_CHARACTERS] for each in encoded]


def _comparable(value: Any) -> object:
    """Returns a value in the form in which an entered and a stored one are equal."""
    if isinstance(value, durations.EnteredDuration):
        return value.api_text
    if isinstance(value, list):
        return sorted(map(str, value))
    if isinstance(value, bool):
        return value
    return str(value).replace("\r\n", "\n").strip()


def _cell(field: FormField, value: Any) -> Cell:
    if field.kind == "switch":
        return cells.switch(bool(value))
    if field.kind == "duration":
        return cells.duration(value.api_text)
    if field.kind == "choice":
        return cells.text(dict(field.options).get(value, value))
    if field.kind == "choices":
        labels = dict(field.options)
        return cells.texts([labels.get(each, each) for each in value])
    if field.kind in ("lines", "free"):
        return cells.code(str(value))
    return cells.text(str(value))
