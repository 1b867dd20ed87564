"""Rules of the house that no linter knows, read from the source itself."""

from __future__ import annotations

import ast
import builtins
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PRODUCT = ("idp", "handlers", "storage", "templates", "locales")
MODULES = sorted(path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

MAX_FUNCTION_LINES = 50
MAX_MODULE_LINES = 400

# What only some modules may touch: the dotted name, and the modules.
CLOCK, CHANCE, SETTINGS, LOGS, METRICS = (
    "idp/foundation/clock.py",
    "idp/foundation/randomness.py",
    "idp/config/loading.py",
    "idp/foundation/logs.py",
    "idp/foundation/metrics/instruments.py",
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
    "os.environ": {SETTINGS, LOGS, METRICS},
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
def test_time_randomness_and_environment_are_read_in_one_place_each(folder):
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


# How often a list or a text is still multiplied by a Boolean. A number may only become smaller.
TIMES_BOOLEAN = {"idp": 0, "handlers": 0, "storage": 0, "templates": 0, "locales": 0}


def multiplied_by_booleans(found):
    """The lines on which a list, a tuple or a text is multiplied by what is no number."""
    for node in ast.walk(found):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for sequence, factor in ((node.left, node.right), (node.right, node.left)):
                if _is_sequence(sequence) and not _is_number(factor):
                    yield node.lineno


def _is_sequence(node):
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, bytes))
    return isinstance(node, (ast.List, ast.ListComp, ast.Tuple, ast.JoinedStr))


def _is_number(node):
    """Whether the node is a number: a literal, arithmetic, a length, or a name like `count`."""
    if isinstance(node, ast.Call):
        called = node.func
        return getattr(called, "id", getattr(called, "attr", "")) in ("len", "count", "int")
    if isinstance(node, ast.Name):
        return node.id in ("n", "count") or node.id.endswith("_count")
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not)
    return isinstance(node, ast.BinOp) or (
        isinstance(node, ast.Constant) and type(node.value) is int
    )


@every_folder
def test_lists_and_texts_are_not_multiplied_by_booleans(folder):
    lines = [
        f"{named(module)}:{line}"
        for module in modules(folder)
        for line in multiplied_by_booleans(tree(module))
    ]

    assert len(lines) <= TIMES_BOOLEAN[folder], "write an `if` or a conditional expression"


@pytest.mark.parametrize(
    "source",
    [
        "[a] * may",
        "(a, b) * (c == d)",
        "'text' * (not is_own)",
        "bool(a) * [b]",
        "f'{a}' * self.may('x')",
        "[a] * (b and c)",
        "[x for x in y] * is_there",
    ],
)
def test_the_rule_finds_a_product_with_a_boolean(source):
    assert list(multiplied_by_booleans(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    ["[None] * len(keys)", "'=' * (-len(text) % 4)", "' ' * 4", "[a] * count", "3 * is_early"],
)
def test_the_rule_leaves_repetition_alone(source):
    assert not list(multiplied_by_booleans(ast.parse(source)))


def documented(path):
    """The docstrings of a module, of its classes and of its functions, with their lines."""
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if text := ast.get_docstring(node):
                yield getattr(node, "name", ""), getattr(node, "lineno", 1), text


# "Raises A, B and c.D if …": up to the full stop, which is none within a dotted name.
_RAISES = re.compile(r"\braises?\b(.*?)(?:\.(?=\s|$)|$)", re.IGNORECASE)
_ERROR = re.compile(r"(?:\b[a-z_]\w*\.)*\b[A-Z]+[a-z]\w*")
# What says when: it may name other classes.
_FOLLOWS = re.compile(
    r"\b(?:if|when|where|while|because|for|unless|after|before|with|by)\b.*?(?=,|;|$)"
)


def raised_names(text):
    """The names of the errors that a docstring's sentences say are raised."""
    sentences = " ".join(line for line in text.splitlines() if not line.startswith("    "))
    for stated in _RAISES.findall(sentences):
        yield from _ERROR.findall(_FOLLOWS.sub("", stated))


@cache
def classes():
    return {
        node.name
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ClassDef)
    }


def is_error(name, module):
    """Whether it is a class of the product, of Python, or of a library that the module imports."""
    if name in classes() or isinstance(getattr(builtins, name, None), type):
        return True
    first, _, rest = name.partition(".")
    found = dict(_aliases(tree(module))).get(first, first)
    library, _, error = f"{found}.{rest}".strip(".").rpartition(".")
    is_there = library and find_spec(library.partition(".")[0])
    return bool(is_there) and isinstance(getattr(import_module(library), error, None), type)


@every_folder
def test_every_error_that_a_docstring_names_exists(folder):
    unknown = {
        f"{named(module)}:{line} {error}"
        for module in modules(folder)
        for _, line, text in documented(module)
        for error in raised_names(text)
        if not is_error(error, module)
    }

    assert not unknown


@every_folder
def test_docstrings_are_sentences(folder):
    unfinished = {
        f"{named(module)}:{line} {name}"
        for module in modules(folder)
        for name, line, text in documented(module)
        if not name.startswith("_") and not are_sentences(text)
    }

    assert not unfinished


def are_sentences(text):
    """Whether each paragraph ends a sentence, or leads to lines that are shown as they stand. The
    help of a command ends in a command line."""
    prose = text.partition("Example: ")[0].strip()
    paragraphs = [each for each in prose.split("\n\n") if not each.startswith((" ", "* "))]
    return paragraphs[0].endswith(".") and all(
        each.endswith((".", ".)", "::", ":")) for each in paragraphs
    )


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("Reads. Raises NotFound, Busy.", ["NotFound", "Busy"]),
        ("Raises NotFound if the User is gone; StorageError.", ["NotFound", "StorageError"]),
        ("Raises click.UsageError for an empty one. Then Others.", ["click.UsageError"]),
        ("The constructor and `records` raise TooNew.", ["TooNew"]),
        ("Raises what `read` raises.", []),
    ],
)
def test_the_rule_finds_the_errors_of_a_docstring(text, errors):
    assert list(raised_names(text)) == errors


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("Reads it.", True),
        ("Reads it", False),
        ("Reads it. Example: idp config show", True),
        ("Reads it Example: idp config show", False),
        ("Reads it.\n\nLike this::\n\n    a = 1", True),
        ("Reads it.\n\nAnd more", False),
    ],
)
def test_the_rule_knows_a_sentence(text, is_right):
    assert are_sentences(text) is is_right
