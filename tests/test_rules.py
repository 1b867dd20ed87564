"""Rules of the house that no linter knows, read from the source itself."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PRODUCT = ("idp", "handlers", "storage", "templates", "locales")
MODULES = sorted(path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

MAX_FUNCTION_LINES = 50
MAX_MODULE_LINES = 400

# What only some modules may touch: the dotted name, and the modules.
CLOCK, CHANCE, SETTINGS, LOGS = (
    "idp/foundation/clock.py",
    "idp/foundation/randomness.py",
    "idp/config/loading.py",
    "idp/foundation/logs.py",
)
RESERVED = {
    "datetime.datetime.now": {CLOCK},
    "datetime.datetime.utcnow": set(),
    "datetime.datetime.today": set(),
    "datetime.date.today": set(),
    "time.time": set(),
    "time.time_ns": {CLOCK},
    "time.gmtime": set(),
    "time.localtime": set(),
    "secrets": {CHANCE},
    "random": set(),
    "uuid": {CHANCE},
    "os.urandom": set(),
    "os.getrandom": set(),
    "os.environ": {SETTINGS, LOGS},
    "os.environb": set(),
    "os.getenv": {SETTINGS, LOGS},
}

# Tornado's own readers strip, replace and merge what was sent: see idp/oauth/params.py.
BANNED_METHODS = {
    f"get_{kind}{plural}"
    for kind in ("argument", "query_argument", "body_argument")
    for plural in ("", "s")
}


def named(path):
    return str(path.relative_to(ROOT))


# A folder at a time: a test for each of a thousand files would cost more than what it asks.
every_folder = pytest.mark.parametrize("folder", PRODUCT)


def modules(folder):
    return [path for path in MODULES if path.is_relative_to(ROOT / folder)]


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def reserved_uses(found):
    """Each use of a reserved name in the tree, however it was imported, with its line."""
    aliases = dict(_aliases(found))
    for node in ast.walk(found):
        for name in _named(node, aliases):
            for reserved in RESERVED:
                if name == reserved or name.startswith(f"{reserved}."):
                    yield reserved, node.lineno


def _aliases(found):
    """The local names of what is imported, with what they stand for."""
    for node in ast.walk(found):
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                yield (each.asname, each.name) if each.asname else (top, top)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                yield each.asname or each.name, f"{node.module}.{each.name}"


def _named(node, aliases):
    """The dotted names that a node imports or reaches."""
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [f"{node.module}.{each.name}" for each in node.names]
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if parts and isinstance(node, ast.Name) and node.id in aliases:
        return [".".join([aliases[node.id], *reversed(parts)])]
    return []


@every_folder
def test_time_chance_and_environment_have_one_door_each(folder):
    uses = {
        f"{named(module)}:{line} uses {reserved}"
        for module in modules(folder)
        for reserved, line in reserved_uses(tree(module))
        if named(module) not in RESERVED[reserved]
    }

    assert not uses, "ask service.clock, service.random or service.config instead"


@every_folder
def test_tornados_lenient_argument_readers_are_not_used(folder):
    used = {
        f"{named(module)}:{node.lineno} {node.attr}"
        for module in modules(folder)
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Attribute) and node.attr in BANNED_METHODS
    }

    assert not used, "parse the raw query or body strictly instead"


@pytest.mark.parametrize("files", [MODULES, TESTS], ids=["product", "tests"])
def test_functions_are_short(files):
    long = {
        f"{named(file)}: {node.name}: {node.end_lineno - node.lineno + 1} lines"
        for file in files
        for node in ast.walk(tree(file))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.end_lineno - node.lineno + 1 > MAX_FUNCTION_LINES
    }

    assert not long


@pytest.mark.parametrize("files", [MODULES, TESTS], ids=["product", "tests"])
def test_modules_are_short(files):
    lines = {named(file): len(file.read_text(encoding="utf-8").splitlines()) for file in files}

    assert not {name: count for name, count in lines.items() if count > MAX_MODULE_LINES}


@every_folder
def test_every_module_says_what_it_is(folder):
    silent = {
        named(module)
        for module in modules(folder)
        if tree(module).body and not ast.get_docstring(tree(module))
    }

    assert not silent


def test_there_are_modules_to_look_at():
    assert len(MODULES) > 20
    assert len(TESTS) > 20
    assert {path for folder in PRODUCT for path in modules(folder)} == {*MODULES}


@pytest.mark.parametrize(
    "source",
    [
        "import datetime\ndatetime.datetime.now()",
        "import datetime as d\nx = d.datetime.utcnow",
        "from datetime import datetime\ndatetime.now(UTC)",
        "from datetime import datetime as dt\ndt.now(UTC)",
        "from datetime import date\ndate.today()",
        "import time\ntime.time()",
        "from time import time",
        "from time import time_ns as t",
        "import secrets",
        "import random as r",
        "from random import randbytes",
        "import uuid",
        "from uuid import uuid4",
        "def f():\n    import secrets",
        "import os\nos.urandom(3)",
        "from os import urandom",
        "import os\nos.environ['X']",
        "import os.path\nos.environ.get('X')",
        "from os import environ",
        "from os import getenv as g",
    ],
)
def test_the_rule_finds_a_use_however_it_is_written(source):
    assert list(reserved_uses(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "from datetime import datetime, timedelta\ndatetime.fromtimestamp(3)",
        "import time\ntime.monotonic(); time.perf_counter(); time.sleep(1)",
        "service.random.id(); self.clock.now(); config.secrets",
        "import os\nos.environment; os.path.join('a')",
        "from tests.support import random",
        "from idp.foundation.randomness import Random as random\nrandom.id()",
    ],
)
def test_the_rule_leaves_other_names_alone(source):
    assert not list(reserved_uses(ast.parse(source)))
