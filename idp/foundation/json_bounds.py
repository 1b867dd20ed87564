"""Bounds on the structure of a JSON document, checked before it is parsed.

A parser creates an object for each value. A few megabytes can contain a million, and the event
loop is blocked while they are created: so they are counted first, and counting stops at the bound.
"""

from __future__ import annotations

import re
from typing import Final

from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.foundation.strict_json import MAX_DEPTH

MAX_MEMBERS: Final = 10_000  # of all objects together
MAX_ELEMENTS: Final = 50_000  # values of lists and objects, counted by commas
_PUNCTUATION: Final = re.compile(rb"[\"\[\]{}:,]")
_IN_TEXT: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)


def check(data: bytes) -> None:
    """Raises InvalidArgument if the JSON document `data` has too many members or values, or too
    many levels.

    A text that is not JSON may pass: its errors are found by the parser.
    """
    depth = members = commas = position = 0
    while (token := _PUNCTUATION.search(data, position)) is not None:
        position, character = token.end(), token[0]
        if character == b'"':
            text = _IN_TEXT.match(data, position)
            position = (text.end() if text else position) + 1
        elif character == b":":
            members += 1
        elif character == b",":
            commas += 1
        else:
            depth += 1 if character in b"[{" else -1
        problem = _problem(depth, members, commas)
        if problem is not None:
            raise InvalidArgument([problem])


def _problem(depth: int, members: int, commas: int) -> FieldProblem | None:
    if depth > MAX_DEPTH:
        message = f"the body is nested deeper than {MAX_DEPTH} levels"
        return FieldProblem("json.too_deep", "", message)
    if members > MAX_MEMBERS:
        message = f"the body has more than {MAX_MEMBERS} members"
        return FieldProblem("json.too_many_members", "", message)
    if commas > MAX_ELEMENTS:
        message = f"the body has more than {MAX_ELEMENTS} values"
        return FieldProblem("json.too_many_members", "", message)
    return None
