"""Strict JSON (RFC 8259, RFC 7493): what parsers treat differently is refused.

Duplicate names, NaN, numbers that other programs can't represent, lone surrogates and NUL are
refused, with their path; so no two parsers read the same document differently.
"""

from __future__ import annotations

import json
import math
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from idp.foundation.errors import MAX_PROBLEMS, FieldProblem, InvalidArgument

MAX_DEPTH: Final = 64
MAX_PATH: Final = 200
MAX_INTEGER: Final = 2**63 - 1
MIN_INTEGER: Final = -(2**63)
_MAX_DIGITS: Final = 20
_ESCAPED_NUL: Final = b"\\u0000"
_FORBIDDEN: Final = re.compile("[\x00\ud800-\udfff]")


class _Object(list[tuple[str, Any]]):
    """The members in the order of the document, with duplicates."""


class _UnusableNumber(str):
    """A number that can't be used, as it was written."""

    __slots__ = ()


def decode(data: bytes, *, max_values: int | None = None) -> object:
    """Returns the document's value: dict, list, str, int, float, bool or None.

    With `max_values`, a document that may contain more values is not parsed, because it would
    take long. Raises InvalidArgument.
    """
    # Each value but the first is behind one of these, which texts may contain as well.
    if max_values is not None and sum(map(data.count, (b",", b"[", b"{"))) >= max_values:
        raise _malformed(f"the body has more than {max_values} values")
    if data.startswith(BOM_UTF8):
        raise _malformed("the body begins with a byte order mark: send UTF-8 without one")
    try:
        value = DECODER.decode(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise _malformed("the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        message = f"{parser_message(error)} at character {error.pos}"
        raise _malformed(f"the body is not JSON: {message}") from None
    except RecursionError:
        raise _too_deep("") from None
    return usable(value)


def parser_message(error: json.JSONDecodeError) -> str:
    """Returns the parser's message without its position, such as `Expecting value`."""
    return error.msg.removesuffix(" at")


def usable(value: object) -> object:
    """Returns a value that DECODER has parsed as dict, list, str, int, float, bool or None.

    Raises InvalidArgument if it contains anything that this module refuses.
    """
    try:
        plain = _clean(value, 0)
        _check_texts(plain)
    except _Suspicious:
        return _examine(value)
    return plain


def texts(value: object) -> dict[str, str]:
    """Returns, by name, those members of an object that are texts, occur once and have no unusable
    character: for messages that identify an object which `usable` may refuse.

    `value` is the result of DECODER; empty if it is no object.
    """
    members = value if isinstance(value, _Object) else ()
    names = [name for name, _ in members]
    return {
        name: text
        for name, text in members
        if type(text) is str and names.count(name) == 1 and not _FORBIDDEN.search(name + text)
    }


class _Suspicious(Exception):
    """Something may be wrong with a value; `_examine` finds its place."""


def _clean(value: Any, depth: int) -> Any:
    """The value in Python's own types, if nothing is wrong with it, as is nearly always the case;
    its texts are not checked. Raises _Suspicious."""
    kind = type(value)
    if depth == MAX_DEPTH and kind in (_Object, list):
        raise _Suspicious
    if kind is _Object:
        plain = {
            name: each if type(each) is str else _clean(each, depth + 1) for name, each in value
        }
        if len(plain) != len(value):
            raise _Suspicious
        return plain
    if kind is list:
        return [each if type(each) is str else _clean(each, depth + 1) for each in value]
    if kind is _UnusableNumber or not _is_in_range(value):
        raise _Suspicious
    return value


def _check_texts(plain: object) -> None:
    """Raises _Suspicious if a text may contain a forbidden character: all texts are checked at
    once."""
    try:
        data = msgspec.json.encode(plain)
    except UnicodeEncodeError:
        raise _Suspicious from None
    if _ESCAPED_NUL in data:
        raise _Suspicious


def _examine(value: object) -> object:
    """The value in Python's own types. Raises InvalidArgument with each problem and its path."""
    problems: list[FieldProblem] = []

    def report(problem: FieldProblem) -> None:
        if len(problems) <= MAX_PROBLEMS:  # one more, so that the error says that there are more
            problems.append(problem)

    plain = _plain(value, "", 0, report)
    if problems:
        raise InvalidArgument(problems)
    return plain


def _integer(digits: str) -> int | _UnusableNumber:
    return int(digits) if len(digits) <= _MAX_DIGITS else _UnusableNumber(digits)


# Parses a value without validating it; `usable` then decides whether it is accepted.
DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_Object, parse_constant=_UnusableNumber, parse_int=_integer
)


def _plain(value: Any, path: str, depth: int, report: Callable[[FieldProblem], None]) -> Any:
    """The value in Python's own types; what can't be used is reported with its path."""
    if isinstance(value, list):
        if depth == MAX_DEPTH:
            raise _too_deep(path)
        if isinstance(value, _Object):
            return dict(_members(value, path, depth, report))
        return [_plain(each, f"{path}[{n}]", depth + 1, report) for n, each in enumerate(value)]
    if isinstance(value, _UnusableNumber) or not _is_in_range(value):
        report(FieldProblem("json.number", path, "is not a usable number"))
    elif isinstance(value, str) and _FORBIDDEN.search(value):
        report(FieldProblem("json.characters", path, "contains NUL or a lone surrogate"))
    return value


def _members(
    pairs: _Object, path: str, depth: int, report: Callable[[FieldProblem], None]
) -> Iterator[tuple[str, Any]]:
    names: set[str] = set()
    for name, value in pairs:
        member_path = child(path, name)
        if name in names:
            report(FieldProblem("json.duplicate", member_path, "is listed twice in its object"))
        elif _FORBIDDEN.search(name):
            report(
                FieldProblem("json.characters", member_path, "contains NUL or a lone surrogate")
            )
        names.add(name)
        yield name, _plain(value, member_path, depth + 1, report)


def _is_in_range(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or MIN_INTEGER <= value <= MAX_INTEGER


def child(path: str, name: str) -> str:
    """Returns the JSON path of the member `name` in the object at `path`, without characters that
    can't be sent.
    """
    name = _FORBIDDEN.sub("�", name[:100])
    return f"{path}.{name}" if path else name


def _malformed(message: str) -> InvalidArgument:
    return InvalidArgument([FieldProblem("json.malformed", "", message)])


def _too_deep(path: str) -> InvalidArgument:
    message = f"{'' if path else 'the body '}is nested deeper than {MAX_DEPTH} levels"
    return InvalidArgument([FieldProblem("json.too_deep", path[:MAX_PATH], message)])
