"""Connections in a state file: an entry has a `kind`, and the fields of that kind's request.

The client secret is read from the file that `clientSecretFile` names, once: when the connection is
created.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from idp.cli import fields
from idp.cli.document import Document
from idp.foundation.errors import FieldProblem
from idp.foundation.strict_json import child
from idp.management.connections.create import FORMS
from idp.management.connections.forms import ConnectionForm
from idp.schema.reading import collect

SECTION: Final = "connections"
_KIND: Final = "kind"
MAX_ENTRIES: Final = 50


# The fields that name a file, with the field of the request and how the file is read.
FILES: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "clientSecretFile": ("clientSecret", fields.read_secret),
}


def with_secrets(document: Document) -> Document:
    """Returns the body of a creation for an entry of a state file: with the secrets in place of
    the names of their files. Raises click.UsageError if a file can't be read."""
    body = {name: value for name, value in document.items() if name not in (_KIND, *FILES)}
    for name, (field, read) in FILES.items():
        if name in document:
            body[field] = read(document[name])
    return body


def without_connections(state: Any) -> tuple[Any, list[FieldProblem]]:
    """Returns the state without its connections, and the problems of the connections."""
    if not isinstance(state, dict):
        return state, []
    other_state, problems = {**state}, list(_problems(state.get(SECTION), SECTION))
    other_state.pop(SECTION, None)
    organizations = other_state.get("organizations")
    if isinstance(organizations, list):
        other_state["organizations"] = [
            {name: value for name, value in each.items() if name != SECTION}
            if isinstance(each, dict)
            else each
            for each in organizations
        ]
        for n, each in enumerate(organizations):
            if isinstance(each, dict):
                problems += _problems(each.get(SECTION), f"organizations[{n}].{SECTION}")
    return other_state, problems


def form_of(entry: Any) -> type[ConnectionForm] | None:
    """Returns the request struct of an entry's kind; None if the entry has no known kind."""
    kind = entry.get(_KIND) if isinstance(entry, dict) else None
    return next((form for name, form in FORMS.items() if name == kind), None)


def _problems(entries: Any, path: str) -> Iterator[FieldProblem]:
    if entries is None:
        return
    if not isinstance(entries, list) or len(entries) > MAX_ENTRIES:
        message = f"must be a list of at most {MAX_ENTRIES} elements"
        yield FieldProblem("field.wrong_type", path, message)
        return
    for n, entry in enumerate(entries):
        yield from _entry_problems(entry, f"{path}[{n}]")


def _entry_problems(entry: Any, path: str) -> Iterator[FieldProblem]:
    form = form_of(entry)
    if form is None:
        message = f"must be one of {', '.join(FORMS)}"
        yield FieldProblem("field.unknown_name", child(path, _KIND), message)
        return
    secrets = {field for field, _ in FILES.values()}
    for name in entry:
        if name in secrets or (name in FILES and not isinstance(entry[name], str)):
            message = "is read from a file, whose name is the value of …File"
            yield FieldProblem("field.wrong_type", child(path, name), message)
    body = {name: value for name, value in entry.items() if name not in (_KIND, *FILES, *secrets)}
    for each in collect(form, body)[1]:
        yield each._replace(field=child(path, each.field) if each.field else path)
