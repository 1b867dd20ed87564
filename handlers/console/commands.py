"""The shell commands that are equivalent to a page of the console, with `idp` and with curl."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec

from handlers.forms.fields import FormField
from idp.api.operation import Operation
from idp.config.settings import Config
from idp.foundation.i18n import Message, message

_PARAMETER: Final = re.compile(r"\{\w+\}")
_CLI: Final = message("Command line", context="console")
_ELLIPSIS: Final = "…"


def example(fields: Iterable[FormField], document: dict[str, Any]) -> dict[str, Any]:
    """Returns a copy of a request's document as an example for a command line: an ellipsis
    replaces secrets, and is the value of each required field that is missing."""
    # A copy, because the placeholders are written into it.
    example_document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    for field in fields:
        *parent_names, member = field.path.split(".")
        parent = example_document
        if field.kind == "password" or (
            field.is_required and not _value_at(example_document, field.path)
        ):
            for name in parent_names:
                parent = parent.setdefault(name, {})
            parent[member] = [_ELLIPSIS] if field.kind in ("lines", "choices") else _ELLIPSIS
    return example_document


def _value_at(document: Any, path: str) -> Any:
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def rendered(
    config: Config,
    operation: Operation,
    ids: Sequence[str],
    document: dict[str, Any] | None,
    org_id: str | None,
    command: str = "",
) -> list[dict[str, object]]:
    """Returns the template values of the shell commands that run an operation: `idp` with the
    subcommand `command`, if there is one, and curl. `ids` are the values of the path
    parameters."""
    lines: list[dict[str, object]] = []
    if command:
        text = _PARAMETER.sub("{}", command).format(*map(shlex.quote, ids))
        org_option = f" --org {shlex.quote(org_id)}" if org_id is not None else ""
        lines.append({"label": _CLI, "line": f"idp {text}{org_option}"})
    curl = _curl(config, operation, ids, document, org_id)
    return [*lines, {"label": Message("curl"), "line": curl}]


def _curl(
    config: Config,
    operation: Operation,
    ids: Sequence[str],
    document: dict[str, Any] | None,
    org_id: str | None,
) -> str:
    values = (quote(value, safe="") for value in ids)
    path = _PARAMETER.sub(lambda _: next(values), operation.path)
    parts = ["curl"]
    if operation.method != ("GET" if document is None else "POST"):
        parts.append(f"-X {operation.method}")
    parts.append(shlex.quote(config.issuer + path))
    parts.append('-H "Authorization: Bearer $TOKEN"')
    if org_id is not None:
        parts.append("-H " + shlex.quote(f"x-{config.vendor}-orgid: {org_id}"))
    if document is not None:
        body = msgspec.json.encode(document).decode()
        parts += ["-H 'Content-Type: application/json'", "-d " + shlex.quote(body)]
    return " \\\n  ".join(parts)
