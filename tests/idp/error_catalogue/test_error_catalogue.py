"""The catalogue of error slugs against the source: each that is raised stands there, no other."""

from __future__ import annotations

import ast
import re
from http import HTTPStatus
from pathlib import Path

import pytest

from handlers import api
from handlers.http import api_errors
from idp.error_catalogue import CATALOGUE, SLUGS

ROOT = Path(__file__).parents[3]
# The front door, what is read at the start, backups, and the tests' own endpoint answer no call of
# the API.
APART = {"backup", "cli", "config", "test_mode.py"}
INNER = {"config", "hint.ignored", "wrong_key"}
SLUG = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
# Of which calls the first argument is a slug, and of which the third.
FIRST = {"FieldProblem", "FieldRefused", "NotYet", "Always"}
FIRST |= {"PasswordProblem", "RegistrationProblem", "RowProblem"}
THIRD = {"OneOf"}


def sources():
    refusing = [ROOT / "handlers" / name for name in ("api.py", "http/api_errors.py")]
    for path in [*(ROOT / "idp").rglob("*.py"), *refusing]:
        if not APART & set(path.relative_to(ROOT).parts):
            yield ast.parse(path.read_text(encoding="utf-8"))


def slugs_of(tree):
    """Each slug that the source names where one is given."""
    for node in ast.walk(tree):
        for expression in given(node):
            for part in ast.walk(expression):
                value = getattr(part, "value", None)
                if isinstance(value, str) and SLUG.fullmatch(value):
                    yield value


def given(node):
    """The expressions of a node that stand where a slug does."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        yield from (each.value for each in node.keywords if each.arg == "slug")
        yield from node.args[:1] if name in FIRST else ()
        yield from node.args[2:3] if name in THIRD else ()
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(getattr(target, "id", "") == "slug" for target in targets):
            yield node.value


def raised():
    of_statuses = {HTTPStatus(status).name.lower() for status in api_errors._NUMBERS} - {
        name for name in ("too_many_requests", "precondition_failed")
    }
    found = {slug for tree in sources() for slug in slugs_of(tree)}
    return (
        found | of_statuses | {api.management_call.NO_ORGANIZATION, api.management_call.NO_TOKEN}
    ) - INNER


@pytest.mark.slow
def test_every_error_code_that_is_raised_is_in_the_catalogue():
    assert raised() - set(SLUGS) == set()


@pytest.mark.slow
def test_the_catalogue_holds_no_error_code_that_is_never_raised():
    assert set(SLUGS) - raised() == set()


def test_an_error_code_is_in_one_part_of_the_catalogue():
    assert sum(map(len, CATALOGUE.values())) == len(SLUGS)


def test_every_error_code_is_explained_in_sentences():
    for name, slug in SLUGS.items():
        assert 400 <= slug.status < 600, name
        assert (slug.cause[-1], slug.cure[-1]) == (".", "."), name


def test_error_codes_are_found_however_they_are_given():
    source = """
raise NotFound("no", slug="a.b")
FieldRefused("c.d" if x else "e", "text")
class E:
    slug = "f.g"
OneOf(("x",), ("y",), "h")
"""

    assert set(slugs_of(ast.parse(source))) == {"a.b", "c.d", "e", "f.g", "h"}
