"""The manual of the management API: every call with its fields, its limits and a command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from idp.api import PARTS, examples
from idp.api.description import DOCUMENTATION
from idp.api.json_schema import one_line_docstring, value_schema
from idp.api.operation import Operation
from idp.schema.field_rules import NOT_YET, Schema
from idp.schema.reading import Request, declared

_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_UPPER: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAX_INT32: Final = 2**31


class FieldRow(Struct, frozen=True):
    """A row in the table of a call's fields: `path` is the field's JSON path, `values` describes
    its possible values in words."""

    path: str
    values: str
    is_required: bool


class ManualEntry(Struct, frozen=True):
    """The description of one call in the manual. `anchor` identifies it on its page, `about` is
    the docstring of its request, `command` a command line that makes it."""

    anchor: str
    method: str
    path: str
    summary: str
    permission: str
    about: str
    fields: list[FieldRow]
    command: str
    is_conditional: bool


class ManualPage(Struct, frozen=True):
    """A page of the manual: the calls of one subject."""

    title: str
    path: str
    entries: list[ManualEntry]


def titles() -> dict[str, str]:
    """Returns the titles of all pages of the manual, by their paths."""
    return {f"{DOCUMENTATION}/{title.lower().replace(' ', '-')}": title for title in PARTS}


def page(path: str, issuer: str) -> ManualPage:
    """Returns the page of the manual at this path, one of those in `titles`.

    `issuer` is the address of the service in the command lines. Raises `KeyError` if there is no
    such page.
    """
    title = titles()[path]
    return ManualPage(title, path, [_entry(each, issuer) for each in PARTS[title]])


def _entry(operation: Operation, issuer: str) -> ManualEntry:
    request = operation.request or operation.query
    return ManualEntry(
        anchor=re.sub(r"[^A-Za-z0-9]+", "-", f"{operation.method}{operation.path}").strip("-"),
        method=operation.method,
        path=operation.path,
        summary=operation.summary,
        permission=operation.permission,
        about=one_line_docstring(request) if request else "",
        fields=list(_rows(request)) if request else [],
        command=command(operation, issuer),
        is_conditional=operation.is_conditional,
    )


def command(operation: Operation, issuer: str) -> str:
    """Returns a curl command line that makes a call of the operation at the service `issuer`, with
    an example body, and with shell variables for the parameters of the path."""
    path = _PARAMETER.sub(lambda match: f"${_UPPER.sub('_', match[1]).upper()}", operation.path)
    lines = [
        f'curl -X {operation.method} "{issuer}{path}"',
        '-H "Authorization: Bearer $TOKEN"',
    ]
    if operation.request is not None:
        body = msgspec.json.encode(examples.body(operation.request)).decode()
        lines += ['-H "Content-Type: application/json"', f"-d {quoted(body)}"]
    return " \\\n  ".join(lines)


def quoted(text: str) -> str:
    """Returns the text in single quotes, as one word of a shell's command line."""
    return "'" + text.replace("'", "'\\''") + "'"


def _rows(kind: type[Request], prefix: str = "") -> Iterator[FieldRow]:
    for field in declared(kind):
        path = prefix + field.wire_name
        inner = field.element.type if field.is_list else field.type
        if isinstance(inner, type) and issubclass(inner, Request):
            type_name = "list of objects" if field.is_list else "object"
            yield FieldRow(
                path, f"{type_name}. {one_line_docstring(inner)}".rstrip(". "), field.is_required
            )
            yield from _rows(inner, f"{path}[]." if field.is_list else f"{path}.")
        else:
            yield FieldRow(path, describe_values(value_schema(field)), field.is_required)


def describe_values(schema: Schema) -> str:
    """Returns a description of the values that a JSON Schema accepts, such as "text, 1 to 200
    characters"."""
    if "anyOf" in schema:
        return describe_values(schema["anyOf"][0])
    if schema.get("description") == NOT_YET:
        return "not supported yet"
    if "const" in schema:
        return f"always {_json(schema['const'])}"
    if "enum" in schema:
        return f"one of {', '.join(map(_json, schema['enum']))}"
    if schema["type"] == "array":
        return f"list of up to {schema['maxItems']}: {describe_values(schema['items'])}"
    value_type = {"boolean": "true or false", "integer": "integer"}.get(schema["type"], "text")
    value_type = {"date-time": "instant", "email": "email address"}.get(
        schema.get("format", ""), value_type
    )
    value_type = "base64" if "contentEncoding" in schema else value_type
    example = f", such as {schema['examples'][0]}" if "examples" in schema else ""
    description = f". {schema['description']}" if "description" in schema else ""
    return f"{value_type}{_limits(schema)}{example}{description}"


def _limits(schema: Schema) -> str:
    if "maxLength" in schema:
        return f", {schema.get('minLength', 0)} to {schema['maxLength']} characters"
    # A higher maximum is that of the integer type, and no limit that a reader has to know.
    if schema.get("maximum", _MAX_INT32) < _MAX_INT32:
        return f", {schema['minimum']} to {schema['maximum']}"
    return ""


def _json(value: Any) -> str:
    return value if isinstance(value, str) and value else msgspec.json.encode(value).decode()
