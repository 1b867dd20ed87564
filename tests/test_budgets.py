"""Budgets of size (`tests/budgets.toml`): a number is lowered freely, and raised only in a commit
that touches nothing else and says why."""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUDGETS = tomllib.loads((ROOT / "tests/budgets.toml").read_text(encoding="utf-8"))
PRODUCT = ("idp", "handlers", "storage")
LONG_FUNCTION_LINES = 25
SMALL_MODULE_LINES = 50
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def modules(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


@cache
def text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def code_lines(source: str) -> int:
    """The lines that hold code: neither blank nor of comments or docstrings."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DEFINITIONS) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring."""
    first, has_docstring = function.body[0], ast.get_docstring(function, clean=False) is not None
    documented = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - documented


def package_of(file: Path) -> str:
    """`idp.oauth` for what is below that folder, `idp`, `handlers` or `storage` for the rest."""
    first, *others = file.relative_to(ROOT).parts
    return f"{first}.{others[0]}" if len(others) > 1 else first


def physical_lines(*folders: str) -> int:
    return sum(text(file).count("\n") for file in modules(*folders))


def importers() -> Counter[str]:
    """How many modules of the product import each module."""
    counted: Counter[str] = Counter()
    for file in modules(*PRODUCT):
        names = set()
        for node in ast.walk(ast.parse(text(file))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
            elif isinstance(node, ast.Import):
                names |= {each.name for each in node.names}
        counted.update(names)
    return counted


def test_a_package_has_no_more_lines_of_code_than_its_budget():
    found: Counter[str] = Counter()
    for file in modules(*PRODUCT):
        found[package_of(file)] += code_lines(text(file))

    allowed = BUDGETS["code"]
    assert {name: n for name, n in found.items() if n > allowed.get(name, 0)} == {}
    assert allowed.keys() - found.keys() == set()


@pytest.mark.parametrize("folders", [PRODUCT, ("tests",)], ids=["product", "tests"])
def test_product_and_tests_have_no_more_lines_than_their_budgets(folders):
    name = "product" if folders == PRODUCT else "tests"

    assert physical_lines(*folders) <= BUDGETS["lines"][name]


def test_few_functions_are_long():
    lengths = [
        length_of(node)
        for file in modules(*PRODUCT)
        for node in ast.walk(ast.parse(text(file)))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    long = sum(length > LONG_FUNCTION_LINES for length in lengths)

    assert round(100 * long / len(lengths), 1) <= BUDGETS["shape"]["long_functions_percent"]


def test_few_modules_are_small_and_serve_one_other():
    counted = importers()
    small = [
        file
        for file in modules(*PRODUCT)
        if text(file).count("\n") < SMALL_MODULE_LINES
        and file.name not in ("__init__.py", "__main__.py")
        and counted[".".join(file.relative_to(ROOT).with_suffix("").parts)] == 1
    ]

    assert len(small) <= BUDGETS["shape"]["small_modules_with_one_importer"], small
