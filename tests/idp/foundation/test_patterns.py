"""The regular expressions mean the same in every Python that the service runs on."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from re import _constants, _parser

import pytest

ROOT = Path(__file__).parents[3]
POSSESSIVE = {_constants.POSSESSIVE_REPEAT, _constants.ATOMIC_GROUP}
BACKTRACKING = {_constants.BRANCH, _constants.MAX_REPEAT, _constants.MIN_REPEAT}


def patterns():
    """Every pattern that the product gives to `re` as a constant, with its file."""
    for folder in ("idp", "handlers", "storage", "locales"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                is_call = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")
                if is_call and node.args and isinstance(node.args[0], ast.Constant):
                    yield file.relative_to(ROOT).as_posix(), node.args[0].value


def backtracks_possessively(pattern):
    """Whether a possessive group has alternatives, or repetitions that give back."""
    return _is_possessive(_parser.parse(pattern), within=False)


def _is_possessive(parsed, within):
    for operation, value in parsed:
        if within and operation in BACKTRACKING:
            return True
        inner = within or operation in POSSESSIVE
        if any(_is_possessive(each, inner) for each in _parts(value)):
            return True
    return False


def _parts(value):
    if isinstance(value, _parser.SubPattern):
        return [value]
    if isinstance(value, (tuple, list)):
        return [part for each in value for part in _parts(each)]
    return []


def test_no_possessive_group_backtracks():
    """Before 3.11.5, Python takes what such a group has tried in vain for matched."""
    found = list(patterns())

    assert len(found) > 50
    assert [where for where, pattern in found if backtracks_possessively(pattern)] == []


@pytest.mark.parametrize(
    ("pattern", "is_one"),
    [
        (r"(?:a++|\\.)*+", True),
        (r"(?:a(?:b*c)?)++", True),
        (r"(?>ab|c)", True),
        (r"a*+(?:\\.a*+)*+", False),
        (r"(?:a|b)*", False),
    ],
)
def test_the_rule_finds_such_a_group(pattern, is_one):
    assert backtracks_possessively(re.compile(pattern).pattern) is is_one
