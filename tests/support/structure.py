"""Figures of the layout, read from the source: folders, names that occur twice, import cycles."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("idp", "handlers", "storage")
MANY_PARAMETERS = 6

Graph = dict[str, set[str]]


def loose_files() -> int:
    """The number of modules in `idp/` itself."""
    return len(list((ROOT / "idp").glob("*.py")))


def largest_folder() -> tuple[int, str]:
    """The largest folder of the product, and the number of its modules."""
    files = Counter(str(path.parent.relative_to(ROOT)) for path in _paths())
    name, number = files.most_common(1)[0]
    return number, name


def doubled_classes() -> dict[str, list[str]]:
    """The class names that occur in more than one module, with these modules."""
    modules = defaultdict(list)
    for path, tree in _trees():
        for name in {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}:
            modules[name].append(_module(path))
    return {name: found for name, found in modules.items() if len(found) > 1}


def many_parameters() -> int:
    """The functions that have more than six parameters, `self` and `cls` left out."""
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return sum(
        _parameters(node.args) > MANY_PARAMETERS
        for _, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, functions)
    )


def knots() -> list[set[str]]:
    """The groups of packages that import each other, directly or by way of others."""
    graph = _packages()
    reached = {package: _reached(graph, package) for package in graph}
    groups = {
        frozenset(other for other in reached[package] if package in reached[other])
        for package in graph
    }
    return [set(group) for group in groups if len(group) > 1]


def _packages() -> Graph:
    """Which packages of the product each package imports. A loose module is a package here."""
    graph: Graph = defaultdict(set)
    for path, tree in _trees():
        source = _package(_module(path))
        graph[source] |= {_package(name) for name in _imported(tree)} - {source}
    return graph


def _reached(graph: Graph, start: str) -> set[str]:
    found, waiting = set(), [start]
    while waiting:
        for other in graph.get(waiting.pop(), set()) - found:
            found.add(other)
            waiting.append(other)
    return found


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            named = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        else:
            continue
        yield from (name for name in named if name.partition(".")[0] in CODE)


def _package(module: str) -> str:
    top, _, rest = module.partition(".")
    if top != "idp":
        return top
    first = rest.partition(".")[0]
    is_there = (ROOT / "idp" / first).is_dir() or (ROOT / "idp" / f"{first}.py").exists()
    return f"idp.{first}" if first and is_there else "idp"


def _parameters(arguments: ast.arguments) -> int:
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return sum(each.arg not in ("self", "cls") for each in named)


def _trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in _paths():
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def _paths() -> list[Path]:
    return [path for name in CODE for path in sorted((ROOT / name).rglob("*.py"))]


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def missing_test_modules() -> set[str]:
    """What tests import of each other and is not there: most runs collect a part of the tests, and
    would not find out."""
    imported = {
        (node.module, each.name)
        for path in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tests"
        for each in node.names
    }
    return {f"{module}.{name}" for module, name in imported if not _binds(module, name)}


def _binds(module: str, name: str) -> bool:
    """Whether a module has a part of this name, or mentions it."""
    place = ROOT.joinpath(*module.split("."))
    parts = (place / f"{name}.py", place / name / "__init__.py")
    files = (place.with_suffix(".py"), place / "__init__.py")
    mentions = (name in file.read_text(encoding="utf-8") for file in files if file.exists())
    return any(part.exists() for part in parts) or any(mentions)
