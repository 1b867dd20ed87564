"""Figures of style, read from the source: `python -m tests.support.figures`.

They are for reviews; the limits that a change must not exceed are in
`tests/test_rules.py`.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from tests.support import structure

ROOT = Path(__file__).parents[2]
PRODUCT = ("idp", "handlers", "storage", "templates", "locales")
LONG_FUNCTION_LINES = 50

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Figures:
    """The counts of some files."""

    modules: list[int] = field(default_factory=list)
    functions: list[int] = field(default_factory=list)
    public: int = 0
    public_with_docstring: int = 0
    with_return_type: int = 0
    comments: int = 0

    @property
    def lines(self) -> int:
        return sum(self.modules)


def of(paths: Iterable[Path]) -> Figures:
    """The figures of these files."""
    figures = Figures()
    for path in paths:
        source = path.read_text(encoding="utf-8")
        figures.modules.append(len(source.splitlines()))
        figures.comments += sum(1 for _ in _comments(source))
        for function, is_public in _functions(ast.parse(source)):
            _count(figures, function, is_public)
    return figures


def _count(figures: Figures, function: Function, is_public: bool) -> None:
    figures.functions.append(_length(function))
    figures.with_return_type += function.returns is not None
    figures.public += is_public
    figures.public_with_docstring += is_public and ast.get_docstring(function) is not None


def _comments(source: str) -> Iterator[str]:
    """Each comment, without directives of tools."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(("# noqa", "# type:")):
            yield token.string


def _functions(tree: ast.AST, is_public: bool = True) -> Iterator[tuple[Function, bool]]:
    """Each function, and whether it and everything that contains it has a public name."""
    for node in ast.iter_child_nodes(tree):
        reachable = is_public and not getattr(node, "name", "").startswith("_")
        if isinstance(node, Function):
            yield node, reachable
            yield from _functions(node, is_public=False)
        else:
            yield from _functions(node, reachable)


def _length(function: Function) -> int:
    """The number of lines from `def` to the last line, without decorators."""
    return (function.end_lineno or 0) - function.lineno + 1


def _bodies(paths: Iterable[Path]) -> list[int]:
    """The number of lines of each test, without its first line and its docstring."""
    found = []
    for path in paths:
        for function, _ in _functions(ast.parse(path.read_text(encoding="utf-8"))):
            if function.name.startswith("test_"):
                first = function.body[1:] if ast.get_docstring(function) else function.body
                start = first[0].lineno if first else function.lineno
                found.append((function.end_lineno or 0) - start + 1)
    return found


def _spread(numbers: list[int]) -> str:
    if len(numbers) < 2:
        return ", ".join(map(str, numbers)) or "none"
    p90 = quantiles(numbers, n=10, method="inclusive")[8]
    return f"median {median(numbers):g}, p90 {p90:g}, longest {max(numbers)}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def report(product: Figures, tests: list[int]) -> str:
    """The figures as lines of text."""
    long = sum(lines > LONG_FUNCTION_LINES for lines in product.functions)
    shown = {
        "product": f"{product.lines} lines in {len(product.modules)} modules",
        "functions": f"{len(product.functions)}: {_spread(product.functions)} lines; "
        f"{_share(long, len(product.functions))} over {LONG_FUNCTION_LINES}",
        "modules": f"{_spread(product.modules)} lines",
        "public functions with a docstring": _share(product.public_with_docstring, product.public),
        "functions with a return type": _share(product.with_return_type, len(product.functions)),
        "comments": f"{100 * product.comments / max(product.lines, 1):.1f} per 100 lines",
        "tests": f"{len(tests)} functions: body {_spread(tests)} lines",
        **_layout(),
    }
    width = max(map(len, shown))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in shown.items())


def _layout() -> dict[str, str]:
    number, folder = structure.largest_folder()
    doubled = structure.doubled_classes()
    knots = structure.knots()
    return {
        "loose files in idp": str(structure.loose_files()),
        "largest folder": f"{number} modules ({folder})",
        "class names in two modules": f"{len(doubled)} ({', '.join(sorted(doubled)) or 'none'})",
        "functions over 6 parameters": str(structure.many_parameters()),
        "packages that import each other": "; ".join(map(str, map(sorted, knots))) or "none",
    }


def main() -> None:
    modules = (path for name in PRODUCT for path in sorted((ROOT / name).rglob("*.py")))
    print(report(of(modules), _bodies(sorted((ROOT / "tests").rglob("test_*.py")))))


if __name__ == "__main__":
    main()
