"""The ledger of what the service promises: `python -m tests.support.conformance`.

`tests/conformance.toml` names the tests of every promise. Run as a program this writes
docs/conformance.md from it; `tests/test_conformance.py` refuses a page that is not up to date, and
a promise whose tests are not there.
"""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
LEDGER = TESTS / "conformance.toml"
PAGE = TESTS.parent / "docs" / "conformance.md"

_HEAD = """# Conformance

What the service promises, and the tests that hold it to that. The sections say where a promise
comes from: the product's specification, and numbered behaviours of certified OpenID providers
beyond it. {kept} promises are kept.{more}

Made from `tests/conformance.toml` by `python -m tests.support.conformance`. A promise without a
test fails the suite.
"""
_MORE = """ {refused} more are of what this version does not offer, marked
*not offered*: discovery does not list it, and who asks for it is refused by name."""


def sections() -> list[dict]:
    """The ledger as it is written."""
    return tomllib.loads(LEDGER.read_text(encoding="utf-8"))["section"]


def rows() -> list[dict]:
    """Every promise."""
    return [row for section in sections() for row in section["row"]]


@cache
def names_of(file: str) -> frozenset[str]:
    """The test functions of a file, by its path below tests/; none when it is not there."""
    path = TESTS / file
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        each.name
        for each in tree.body
        if isinstance(each, functions) and each.name.startswith("test_")
    )


def missing(row: dict) -> list[str]:
    """The tests that a promise names and nobody wrote."""
    pairs = (test.partition("::") for test in row["tests"])
    return [f"{file}::{name}" for file, _, name in pairs if name not in names_of(file)]


def page() -> str:
    """The page as it should be."""
    refused = sum(row.get("refused", False) for row in rows())
    more = _MORE.format(refused=refused) if refused else ""
    lines = [_HEAD.format(kept=len(rows()) - refused, more=more)]
    for section in sections():
        lines += [f"## {section['title']} ({section['source']})", "", "| | promise | tests |"]
        lines += ["|---|---|---|", *map(_line, section["row"]), ""]
    return "\n".join(lines)


def _line(row: dict) -> str:
    says = row["says"] + (" *Not offered.*" if row.get("refused") else "")
    return f"| {row['id']} | {says} | {'<br>'.join(map(_link, row['tests']))} |"


def _link(test: str) -> str:
    file, _, name = test.partition("::")
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../tests/{file})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
