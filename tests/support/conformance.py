"""The promises of the service and their tests: `python -m tests.support.conformance`.

`tests/promises.toml` has the sentence of every promise. A test names the promises that it checks
by `@pytest.mark.promise("discovery: path")`. Run as a program, this module writes
docs/conformance.md from both; `tests/test_conformance.py` fails if a promise has no test or the
page is out of date.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parents[1]
TABLE = TESTS / "promises.toml"
PAGE = TESTS.parent / "docs" / "conformance.md"

_HEAD = """# Conformance

What the service promises, and the tests that check it. Each section names the standard or the
document that it follows. There are {count} promises.

Made by `python -m tests.support.conformance` from `tests/promises.toml` and the marks at the
tests. A promise without a test fails the suite.
"""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class MarkedTest(NamedTuple):
    """A test function with the ids of the promises that it checks."""

    file: str
    name: str
    promises: tuple[str, ...]


@cache
def sections() -> dict[str, dict]:
    """The table: every section with its title, its source and its promises by name."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


@cache
def promises() -> dict[str, str]:
    """The sentence of every promise by its id."""
    return {
        f"{section}: {name}": sentence
        for section, content in sections().items()
        for name, sentence in content["promises"].items()
    }


@cache
def marked_tests() -> list[MarkedTest]:
    """Every test that checks a promise, in the order of files and lines."""
    files = sorted(TESTS.rglob("test_*.py"))
    return [
        test
        for file in files
        for test in read_marks(file.relative_to(TESTS).as_posix(), file.read_text("utf-8"))
    ]


def read_marks(file: str, source: str) -> list[MarkedTest]:
    """The tests of a module that check promises: its functions and methods that pytest collects.

    Raises `ValueError` for a mark anywhere else, and for one whose ids are not literal strings.
    """
    if "promise" not in source:
        return []
    tree = ast.parse(source)
    marks_of = {each: list(filter(_is_mark, each.decorator_list)) for each in _collected(tree)}
    mentions = [each for each in ast.walk(tree) if getattr(each, "attr", "") == "promise"]
    if len(mentions) != sum(map(len, marks_of.values())):
        raise ValueError(f"{file}: a mark of a promise that is not on a test")
    return [
        MarkedTest(file, test.name, tuple(id for mark in marks for id in _ids(mark)))
        for test, marks in marks_of.items()
        if marks
    ]


def _collected(parent: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    for node in parent.body:
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            yield node
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _collected(node)


def _is_mark(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).startswith("pytest.mark.promise(")


def _ids(mark: ast.Call) -> list[str]:
    return [ast.literal_eval(each) for each in mark.args]


def page() -> str:
    """The current page."""
    lines = [_HEAD.format(count=len(promises()))]
    for section, content in sections().items():
        lines += [f"## {content['title']} ({content['source']})", ""]
        lines += ["| | promise | tests |", "|---|---|---|"]
        lines += [_line(f"{section}: {name}", says) for name, says in content["promises"].items()]
        lines.append("")
    return "\n".join(lines)


def _line(promise: str, sentence: str) -> str:
    links = [_link(test) for test in marked_tests() if promise in test.promises]
    return f"| {promise} | {sentence} | {'<br>'.join(links)} |"


def _link(test: MarkedTest) -> str:
    return f"[{test.name.removeprefix('test_').replace('_', ' ')}](../tests/{test.file})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
