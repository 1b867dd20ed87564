"""The fields of the console's forms: from form values to a request's document, and back to the
page.

A field corresponds to one member of the document, by its JSON path; empty values are left out.
Problems are displayed at the field that they concern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct, structs

from handlers.forms import durations
from idp.error_catalogue import ERROR_CODES
from idp.foundation.errors import FieldProblem, IdpError, InvalidArgument, Taken
from idp.foundation.i18n import Message, message
from idp.foundation.texts import typed_texts
from idp.oauth.params import Params
from idp.passwords import policy as password_policy

FieldKind = Literal[
    "text",
    "name",  # a login name
    "email",
    "tel",
    "url",
    "date",
    "day",  # with the date picker of the browser
    "number",
    "duration",  # a number and its unit
    "password",
    "free",  # text of several lines
    "lines",  # a list, one element in each line
    "colour",
    "choice",
    "choices",
    "switch",
]
SEQUENCE: Final = "sequence"
_MAX_DIGITS: Final = 18
_INDEX: Final = re.compile(r"\[\d+\]")
_TOO_LONG: Final = message(
    "Enter at most %(n)s character.",
    plural="Enter at most %(n)s characters.",
    context="console",
    n=1,
)
# Of error codes with a limit, which the text says.
_LIMITS: Final[Mapping[str, Message]] = {
    "field.too_long": _TOO_LONG,
    "password.too_short": password_policy.too_short(1).text,
}
_NEW_STATE: Final = message("The state has changed in the meantime.", context="console")
# The texts of error codes that only forms have, or that ask for something else in a form.
_FORM_TEXTS: Final[Mapping[str, Message]] = {
    "contact.same": message(
        "Enter a different value. This one is already saved.", context="account"
    ),
    "field.duration": message("Enter a whole number such as 12.", context="console"),
    "field.timestamp": message("Enter a date such as 2030-12-31.", context="console"),
    "idempotency.other_request": message(
        "This form was already submitted with different values. Submit it again "
        "to save these values, too.",
        context="console",
    ),
    "organization.state": _NEW_STATE,
    "pat.long": message(
        "Choose an earlier date, or allow more than 90 days below.", context="refused"
    ),
    "precondition.failed": message(
        "Someone else has changed this. Check the values that you entered. Saving them"
        " replaces the other change.",
        context="console",
    ),
    "user.not_found": message("No user has that name.", context="console"),
    "user.state": _NEW_STATE,
}
# Whose API message says which limit, time or reason it is; a form displays that.
_SPECIFIC: Final = {
    "already_exists",
    "connection.address",
    "connection.options_contradict",
    "failed_precondition",
    "field.too_many",
    "field.too_short",
    "invalid_argument",
    "keys.too_soon",
    "mail.not_sent",
    "not_found",
    "permission_denied",
    "taken",
    "text.placeholder",
}


class FormField(Struct, frozen=True, kw_only=True):
    """An input of a form. `path` is the path of its value in the request's document, and `source`
    that in an answer of the API, if it differs.

    `options` of a choice are values with their labels. With `is_sent_empty`, an empty value is
    sent too, so that an update can clear the stored one. `related_paths` are other paths of the
    document whose problems are displayed at this field. Fields with the same `group` are displayed
    together, collapsed."""

    path: str
    label: Message
    hint: Message | None = None
    kind: FieldKind = "text"
    source: str = ""
    options: Sequence[tuple[str, Message | str]] = ()
    autocomplete: str | None = "off"
    direction: str | None = "auto"
    default: object = None
    is_required: bool = False
    is_sent_empty: bool = False
    related_paths: tuple[str, ...] = ()
    group: Message | None = None


Values = dict[str, Any]  # the values of the inputs, by the path of the field


def submitted_values(fields: Iterable[FormField], form: Params) -> Values:
    """Returns the submitted value of each field, by the field's path. Raises InvalidRequest if a
    field with a single value was sent more than once."""
    return {field.path: _submitted_value(field, form) for field in fields}


def _submitted_value(field: FormField, form: Params) -> Any:
    if field.kind == "choices":
        return form.all(field.path)
    text = form.get(field.path) or ""
    if field.kind == "duration":
        unit = form.get(durations.unit_name(field.path)) or ""
        return durations.EnteredDuration(text.strip(), unit)
    if field.kind == "switch":
        return bool(text)
    if field.kind in ("email", "name"):
        return typed_texts.name(text)
    # Passwords and texts of several lines may begin or end with spaces.
    return text if field.kind in ("free", "password") else text.strip()


def sequence(form: Params) -> int | None:
    """Returns the version of the record that a form was rendered from, or None if the form has
    none."""
    text = form.get(SEQUENCE) or ""
    # int() alone would also accept signs, spaces and other scripts' digits.
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    return int(text) if is_number else None


def document(fields: Iterable[FormField], values: Values) -> dict[str, Any]:
    """Returns the request's document, which has each value at its field's path."""
    body: dict[str, Any] = {}
    for field in fields:
        value = _member_value(field, values[field.path])
        # A switch that is off has a value.
        if value or value is False or field.is_sent_empty:
            _set_member(body, field.path, value)
    return body


def _member_value(field: FormField, value: Any) -> Any:
    if field.kind == "lines":
        return [line.strip() for line in value.splitlines() if line.strip()]
    if field.kind == "duration":
        return value.api_text
    if field.kind == "free":
        # Browsers submit the line ends of a textarea as CRLF.
        return value.replace("\r\n", "\n")
    return value


def _set_member(parent: dict[str, Any], path: str, value: Any) -> None:
    *parent_names, name = path.split(".")
    for parent_name in parent_names:
        parent = parent.setdefault(parent_name, {})
    parent[name] = value


def initial_values(fields: Iterable[FormField], answer: Mapping[str, Any]) -> Values:
    """Returns the value that an answer of the API has for each field, by the field's path; without
    one, the field's default."""
    return {field.path: _initial_value(field, answer) for field in fields}


def _initial_value(field: FormField, answer: Mapping[str, Any]) -> Any:
    if field.kind == "password":
        return ""
    stored = value_at(answer, field.source or field.path)
    value: Any = field.default if stored is None else stored
    if field.kind == "lines":
        return "\n".join(map(str, value or ()))
    if field.kind == "duration":
        return durations.of_api(value or "")
    return value if value is not None else [] if field.kind == "choices" else ""


def value_at(answer: Any, path: str) -> Any:
    """Returns the member of an answer at a path such as `details.sequence`, or None."""
    for name in path.split("."):
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer


def problems(fields: Sequence[FormField], error: IdpError) -> list[dict[str, object]]:
    """Returns the template values of an error's problems: for each its text, with the path and
    label of the field that has it. The text of a value that no field has is the API's, with its
    path."""
    problems: list[dict[str, object]] = []
    for problem in error.details:
        field = _field_of(fields, problem.field)
        path, label = (field.path, field.label) if field else (None, None)
        is_elsewhere = not field and problem.field and isinstance(error, InvalidArgument | Taken)
        text = Message(str(problem)) if is_elsewhere else _problem_text(problem)
        problems.append({"field": path, "label": label, "text": text})
    return problems


def _problem_text(problem: FieldProblem) -> Message:
    error_code = problem.error_code
    if error_code in _LIMITS and problem.limit is not None:
        return structs.replace(_LIMITS[error_code], args={"n": problem.limit})
    if error_code in _FORM_TEXTS:
        return _FORM_TEXTS[error_code]
    if error_code in _SPECIFIC or error_code not in ERROR_CODES:
        return Message(problem.message)
    text = ERROR_CODES[error_code].text
    return text if isinstance(text, Message) else Message(text)


def _field_of(fields: Sequence[FormField], path: str) -> FormField | None:
    """Returns the field of this path, or of its nearest parent."""
    # A field has all elements of a list: `roles[2]` belongs to `roles`.
    path = _INDEX.sub("", path)
    while path:
        for field in fields:
            if path in (field.path, *field.related_paths):
                return field
        path = path.rpartition(".")[0]
    return None


def rendered(fields: Iterable[FormField], values: Values) -> list[dict[str, object]]:
    """Returns the template values of the inputs, as templates/console/parts.mako requires them."""
    return [_rendered(field, values[field.path]) for field in fields]


def _rendered(field: FormField, value: Any) -> dict[str, object]:
    attributes = {
        "autocomplete": field.autocomplete,
        "dir": field.direction,
        "required": field.is_required,
    }
    return {
        "name": field.path,
        "label": field.label,
        "hint": field.hint,
        "kind": field.kind,
        # A submitted password is never sent back to the browser.
        "value": "" if field.kind == "password" else value,
        "options": durations.OPTIONS if field.kind == "duration" else list(field.options),
        "attributes": attributes,
        "group": field.group,
        "is_used": _is_used(field, value),
    }


def _is_used(field: FormField, value: Any) -> bool:
    if field.kind == "duration":
        return bool(value.number)
    return bool(value) and value != field.default
