"""The catalogue of error codes against the source: each that is raised stands there, no other."""

from __future__ import annotations

import ast
import re
from http import HTTPStatus
from pathlib import Path

import pytest

from handlers import api
from handlers.http import api_errors
from idp.error_catalogue import CATALOGUE, ERROR_CODES

ROOT = Path(__file__).parents[3]
# The front door, what is read at the start, backups, and the tests' own endpoint answer no call of
# the API.
APART = {"backup", "cli", "config", "test_mode.py"}
INNER = {"already_running", "config", "hint.ignored", "wrong_key"}
ON_THE_WIRE = {"slug"}  # what the attribute with an error code is called there
ERROR_CODE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
# Of which calls the first argument is an error code, and of which the third.
FIRST = {"FieldProblem", "FieldRefused", "NotYet", "Always"}
FIRST |= {"PasswordProblem", "RegistrationProblem", "RowProblem"}
THIRD = {"OneOf"}


def sources():
    refusing = [
        ROOT / "handlers" / name for name in ("api.py", "http/api_errors.py", "http/if_match.py")
    ]
    for path in [*(ROOT / "idp").rglob("*.py"), *refusing]:
        if not APART & set(path.relative_to(ROOT).parts):
            yield ast.parse(path.read_text(encoding="utf-8"))


def error_codes_of(tree):
    """Each error code that the source names where one is given."""
    for node in ast.walk(tree):
        for expression in given(node):
            for part in ast.walk(expression):
                value = getattr(part, "value", None)
                if isinstance(value, str) and ERROR_CODE.fullmatch(value):
                    yield value


def given(node):
    """The expressions of a node that stand where an error code does."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        yield from (each.value for each in node.keywords if each.arg == "error_code")
        yield from node.args[:1] if name in FIRST else ()
        yield from node.args[2:3] if name in THIRD else ()
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(getattr(target, "id", "") == "error_code" for target in targets):
            yield node.value


def raised():
    of_statuses = {HTTPStatus(status).name.lower() for status in api_errors._NUMBERS} - {
        name for name in ("too_many_requests", "precondition_failed")
    }
    found = {error_code for tree in sources() for error_code in error_codes_of(tree)}
    return (
        (found | of_statuses | {api.management_call.NO_ORGANIZATION, api.management_call.NO_TOKEN})
        - INNER
        - ON_THE_WIRE
    )


@pytest.mark.full
def test_every_error_code_that_is_raised_is_in_the_catalogue():
    assert raised() - set(ERROR_CODES) == set()


@pytest.mark.full
def test_the_catalogue_holds_no_error_code_that_is_never_raised():
    assert set(ERROR_CODES) - raised() == set()


def test_an_error_code_is_in_one_part_of_the_catalogue():
    assert sum(map(len, CATALOGUE.values())) == len(ERROR_CODES)


def test_the_text_of_every_error_code_is_a_sentence():
    for name, entry in ERROR_CODES.items():
        assert 400 <= entry.status < 600, name
        assert entry.fix.endswith("."), name


def test_error_codes_are_found_however_they_are_given():
    source = """
raise NotFound("no", error_code="a.b")
FieldRefused("c.d" if x else "e", "text")
class E:
    error_code = "f.g"
OneOf(("x",), ("y",), "h")
"""

    assert set(error_codes_of(ast.parse(source))) == {"a.b", "c.d", "e", "f.g", "h"}
