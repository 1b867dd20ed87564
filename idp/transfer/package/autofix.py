"""Correction of formal mistakes in a row, where a value can only mean one thing.

Ids, passwords, hashes and secrets are never changed: clients use them in exactly the form that
they sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from idp.error_catalogue import ERROR_CODES
from idp.foundation.strict_json import child
from idp.schema import reading
from idp.schema.field_rules import (
    MAX_LANGUAGE,
    Domain,
    EmailRule,
    Instant,
    Language,
    OneOf,
    PhoneRule,
    Text,
    UserName,
)
from idp.schema.reading import DeclaredField, Request
from idp.transfer.package.rows import RowProblem

_TRIMMED: Final = (Domain, EmailRule, Instant, PhoneRule, UserName)
_NAMES: Final = frozenset({"firstName", "lastName", "nickName", "displayName"})


def corrected(form: type[Request], document: object) -> tuple[object, list[RowProblem]]:
    """Returns a row's document, with formal mistakes corrected where the request struct `form`
    leaves one possible value, and a warning for each corrected field.
    """
    warnings: list[RowProblem] = []
    return _object(form, document, "", warnings), warnings


def _object(form: type[Request], value: object, path: str, warnings: list[RowProblem]) -> object:
    if not isinstance(value, dict):
        return value
    return {**value, **dict(_members(form, value, path, warnings))}


def _members(
    form: type[Request], value: Mapping[str, Any], path: str, warnings: list[RowProblem]
) -> Iterator[tuple[str, object]]:
    for field in reading.declared(form):
        at = child(path, field.wire_name)
        for name in {field.wire_name, field.name} & value.keys():
            yield name, _value(field, value[name], at, warnings)


def _value(field: DeclaredField, value: object, path: str, warnings: list[RowProblem]) -> object:
    if field.is_list and isinstance(value, list):
        inner = field.element
        return [_value(inner, each, f"{path}[{n}]", warnings) for n, each in enumerate(value)]
    if isinstance(field.type, type) and issubclass(field.type, Request):
        return _object(field.type, value, path, warnings)
    if not isinstance(value, str):
        return value
    correction, note = _correction(field, value)
    if correction == value:
        return value
    warnings.append(_warning(path, note))
    return correction


def _correction(field: DeclaredField, text: str) -> tuple[str, str]:
    """Returns the value that a text means, and a message about the correction."""
    rule = field.rule
    if isinstance(rule, Language):
        return _language(text), "was changed to a valid language tag"
    if isinstance(rule, OneOf):
        name = text.strip().upper()
        return name if name in rule.names else text, "was replaced by the standard name"
    if isinstance(rule, _TRIMMED) or (isinstance(rule, Text) and field.wire_name in _NAMES):
        return text.strip(" "), "had leading or trailing spaces, which were removed"
    return text, ""


def _language(text: str) -> str:
    """Returns a language tag in the usual case and length.

    `DE_de-1996-x-a` becomes `de-DE-1996`.
    """
    first, *subtags = text.strip(" ").replace("_", "-").split("-")
    tag = "-".join([first.lower(), *map(_subtag, subtags)])
    while len(tag) > MAX_LANGUAGE and "-" in tag:
        tag = tag.rpartition("-")[0]
    return tag


def _subtag(text: str) -> str:
    """Returns a subtag in the case of RFC 5646, 2.1.1: a region in capitals, a script with a
    capital.
    """
    by_length = {2: text.upper(), 4: text.title()}
    return by_length.get(len(text), text.lower())


def _warning(path: str, note: str) -> RowProblem:
    fix = ERROR_CODES["import.mended"].fix
    return RowProblem(
        error_code="import.mended", field=path, message=note, fix=fix, is_error=False
    )
