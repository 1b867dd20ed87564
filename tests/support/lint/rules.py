"""Rules of the code and of the files around it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

from idp.foundation import product
from tests.mutants import MUTANTS
from tests.support import floors_table
from tests.support.repository import PRODUCT, ROOT, listed, modules, read, setup_cfg, tracked

MAX_FUNCTION_LINES = 50
MAX_MODULE_LINES = 400
MAX_FILES = 30
MAX_LOOSE_FILES = 6
MAX_EXCEPTIONS = 22  # of long lists of parameters: only downwards
CODE = ("idp", "handlers", "storage")

# Tornado's own readers strip, replace and merge what was sent: see idp/oauth/params.py.
_LENIENT = re.compile(r"get_(query_|body_)?arguments?")
# Where packages come from is the user's own business, and so is where the tree lies.
_PRIVATE = re.compile(
    r"--(?:extra-)?index-url|--registry|/simple/?\b" r"|(?<![\w.])/(?:home|root)/"
)
_PINNED = re.compile(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def problems() -> Iterator[str]:
    """What breaks a rule, a line each."""
    yield from _lengths()
    yield from _folders()
    yield from _lenient_readers()
    yield from _structure()
    yield from _contracts()
    yield from _files()
    yield from _workflows()
    yield from _mutants()


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _lengths() -> Iterator[str]:
    for path in modules(*PRODUCT, "tests"):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MAX_MODULE_LINES:
            yield f"{path.relative_to(ROOT)}: {lines} lines"
        for node in ast.walk(_tree(path)):
            if isinstance(node, _FUNCTIONS):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    yield f"{path.relative_to(ROOT)}: {node.name} has {length} lines"


def _folders() -> Iterator[str]:
    files = Counter(path.parent for path in modules(*PRODUCT, "tests", "benchmarks"))
    for folder, number in files.items():
        if number > (MAX_LOOSE_FILES if folder == ROOT / "idp" else MAX_FILES):
            yield f"{folder.relative_to(ROOT)}: {number} modules"


def _lenient_readers() -> Iterator[str]:
    for path in modules(*CODE):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Attribute) and _LENIENT.fullmatch(node.attr):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.attr} is not strict"


def _structure() -> Iterator[str]:
    graph, places = defaultdict[str, set[str]](set), defaultdict[str, list[str]](list)
    for path in modules(*CODE):
        source = _package(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(ROOT)))
            graph[source] |= {_package(name) for name in _imported(node)} - {source}
    for name, found in places.items():
        if len(set(found)) > 1:
            yield f"the class name {name} has two meanings: {', '.join(found)}"
    reached = {package: _reached(graph, package) for package in graph}
    for package, others in reached.items():
        if package in others:
            yield f"{package} is imported by what it imports"


def _imported(node: ast.AST) -> list[str]:
    names = []
    if isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    return [name for name in names if name.partition(".")[0] in CODE]


def _package(module: str) -> str:
    """The package below `idp` that holds a module. A loose module is a package here."""
    top, _, rest = module.partition(".")
    first = rest.partition(".")[0]
    is_there = (ROOT / "idp" / first).is_dir() or (ROOT / "idp" / f"{first}.py").exists()
    return f"idp.{first}" if top == "idp" and first and is_there else top


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in graph.get(waiting.pop(), set()) - found:
            found.add(other)
            waiting.append(other)
    return found


def _contracts() -> Iterator[str]:
    """What import-linter passes over: a package without a floor, or outside of its contracts."""
    named = {name for floor in floors_table.floors() for name in floor}
    there = {
        f"idp.{path.stem}"
        for path in (ROOT / "idp").iterdir()
        if path.stem != "__init__" and (path.suffix == ".py" or (path / "__init__.py").exists())
    }
    back_ends = {f"storage.{path.parent.name}" for path in ROOT.glob("storage/*/__init__.py")}
    expected = [
        ("floors", named, there | {"handlers", "storage"}),
        ("root packages", listed("importlinter", "root_packages"), set(PRODUCT)),
        ("back ends", listed("importlinter:contract:back-ends", "protected_modules"), back_ends),
        ("back ends", listed("importlinter:contract:apart", "modules"), back_ends),
    ]
    for contract, found, all_of_them in expected:
        if found != all_of_them:
            yield f"setup.cfg: {contract}: {sorted(found ^ all_of_them)}"
    for section in setup_cfg().values():
        if {"allow_indirect_imports", "ignore_imports"} & set(section):
            yield f"setup.cfg: an import is excepted in {section.name}"


def _files() -> Iterator[str]:
    ignored = tomllib.loads(read("pyproject.toml"))["tool"]["ruff"]["lint"]["per-file-ignores"]
    codes = [code for name, found in ignored.items() if "*" not in name for code in found]
    if sum(code in ("A001", "A002", "PLR0913") for code in codes) > MAX_EXCEPTIONS:
        yield f"pyproject.toml: more than {MAX_EXCEPTIONS} exceptions"
    for name in ignored:
        if "*" not in name and not (ROOT / name).exists():
            yield f"pyproject.toml: {name} is gone"
    for path in tracked():
        text = path.read_text(encoding="utf-8", errors="ignore") if path.is_file() else ""
        if path != Path(__file__) and (found := _PRIVATE.search(text)):
            yield f"{path.relative_to(ROOT)}: {found[0]} is of one machine"
        is_product = path.relative_to(ROOT).parts[0] in PRODUCT
        if is_product and product.NAME in text and path.name != "product.py":
            yield f"{path.relative_to(ROOT)}: the display name is idp.foundation.product.NAME"


def _workflows() -> Iterator[str]:
    """A workflow may read the repository and nothing else, and runs what is pinned; only a job of
    the release may do more."""
    for path in sorted(ROOT.glob(".github/workflows/*.yml")):
        text = path.read_text(encoding="utf-8")
        workflow = yaml.load(text, yaml.BaseLoader)  # YAML 1.1 takes `on` for a truth value
        for use in re.findall(r"^\s*(?:-\s+)?uses:\s*(.*)$", text, re.M):
            if not _PINNED.fullmatch(use):
                yield f"{path.name}: {use} is not pinned by the hash of its commit"
        is_release = workflow["on"] == {"push": {"tags": ["v*"]}}
        more = [job for job in workflow["jobs"].values() if "permissions" in job]
        is_release &= {job.get("environment") for job in workflow["jobs"].values()} == {"release"}
        is_open = "pull_request_target" in workflow["on"] or "secrets." in text or more
        if workflow["permissions"] != {"contents": "read"} or (is_open and not is_release):
            yield f"{path.name}: may do more than read"


def _mutants() -> Iterator[str]:
    for mutant in MUTANTS:
        found = read(mutant.file).count(mutant.old)
        if found != 1 or mutant.new == mutant.old:
            yield f"{mutant.file}: the mutant '{mutant.says}' fits {found} places"
