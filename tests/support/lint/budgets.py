"""Budgets of size (`tests/budgets.toml`): a number is lowered freely, and raised only in a commit
that touches nothing else and says why."""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.support.repository import ROOT, modules, read

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
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def problems() -> Iterator[str]:
    """Each number that is over its budget, and each budget of a package that is gone."""
    budgets, found = tomllib.loads(read("tests/budgets.toml")), _measured()
    for kind, names in budgets.items():
        for name in sorted(names.keys() | found[kind].keys()):
            allowed = names.get(name, 0)
            if found[kind].get(name, 0) > allowed:
                yield f"{kind} of {name}: {found[kind][name]}, and {allowed} are allowed"
            if name not in found[kind]:
                yield f"tests/budgets.toml: {name} is gone"


def _measured() -> dict[str, dict[str, float]]:
    texts = {path: path.read_text(encoding="utf-8") for path in modules(*PRODUCT)}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    code: Counter[str] = Counter()
    for path, text in texts.items():
        code[_package(path)] += _code_lines(text, trees[path])
    lengths = [
        _length(node)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS)
    ]
    long = sum(length > LONG_FUNCTION_LINES for length in lengths)
    return {
        "lines": {
            "product": sum(text.count("\n") for text in texts.values()),
            "tests": sum(path.read_text("utf-8").count("\n") for path in modules("tests")),
        },
        "shape": {
            "long_functions_percent": round(100 * long / len(lengths), 1),
            "small_modules_with_one_importer": _small_with_one_importer(texts, trees),
        },
        "code": dict(code),
    }


def _package(path: Path) -> str:
    """`idp.oauth` for what is below that folder, `idp`, `handlers` or `storage` for the rest."""
    first, *others = path.relative_to(ROOT).parts
    return f"{first}.{others[0]}" if len(others) > 1 else first


def _code_lines(source: str, tree: ast.Module) -> int:
    """The lines that hold code: neither blank nor of comments or docstrings."""
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)):
            if ast.get_docstring(node, clean=False) is not None:
                first = node.body[0]
                docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring."""
    first, has_docstring = function.body[0], ast.get_docstring(function, clean=False) is not None
    documented = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - documented


def _small_with_one_importer(texts: dict[Path, str], trees: dict[Path, ast.Module]) -> int:
    importers: Counter[str] = Counter()
    for tree in trees.values():
        names: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
            elif isinstance(node, ast.Import):
                names |= {each.name for each in node.names}
        importers.update(names)
    return sum(
        text.count("\n") < SMALL_MODULE_LINES
        and path.name not in ("__init__.py", "__main__.py")
        and importers[".".join(path.relative_to(ROOT).with_suffix("").parts)] == 1
        for path, text in texts.items()
    )
