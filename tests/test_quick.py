"""The inner loop, `tox -e quick`: what it leaves out, and what its tests may not do."""

from __future__ import annotations

import ast
import configparser
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from tests import conftest
from tests.support import quick

ROOT = Path(__file__).parents[1]
_FIXTURE = re.compile(r"@pytest\.fixture.*\n(?:async )?def (\w+)")


@cache
def tox_ini():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    return parser


def test_the_inner_loop_leaves_out_what_is_marked_to_start_anything():
    quick = tox_ini()["testenv:quick"]
    words = shlex.split(quick["commands"].replace("\\\n", " "))
    left_out = set(re.findall(r"\w+", words[words.index("-m") + 1])) - {"not", "or"}
    markers = tox_ini()["pytest"]["markers"].strip().splitlines()
    by_conftest = {*conftest.OF_FOLDERS.values(), *conftest.OF_FIXTURES.values()}

    assert left_out == {"slow", "deep", "alone", "mongo", "browser", "interop", "program"}
    assert left_out <= {line.partition(":")[0] for line in markers}
    assert by_conftest == {"slow", "mongo", "browser", "interop", "program"}
    assert words[-1] == "tests/handlers}"
    assert quick["set_env"] == "IDP_TEST_QUICK = yes"
    assert "quick" not in tox_ini()["tox"]["env_list"]


def test_the_folders_and_fixtures_that_the_inner_loop_leaves_out_are_there():
    folders = {path.name for path in (ROOT / "tests").rglob("*") if path.is_dir()}
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    fixtures = {name for text in sources for name in _FIXTURE.findall(text)}

    assert not set(conftest.OF_FOLDERS) - folders
    assert not set(conftest.OF_FIXTURES) - fixtures


def test_the_inner_loop_has_two_thousand_tests():
    left_out = re.compile(r"\bmark\.(?:slow|deep|alone|mongo|program)\b")
    count = 0
    for folder in ("idp", "storage", "handlers"):
        for path in (ROOT / "tests" / folder).rglob("test_*.py"):
            if not set(path.parts) & set(conftest.OF_FOLDERS):
                for found in _functions(ast.parse(path.read_text(encoding="utf-8"))):
                    marks = " ".join(ast.unparse(each) for each in found.decorator_list)
                    count += left_out.search(marks) is None

    assert count >= 2_000


def _functions(tree):
    """The test functions of a module that does not leave out all of them."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [node for node in found if node.name.startswith("test_")]


def test_a_test_of_the_inner_loop_starts_no_process():
    quick.refuse_processes("open", ("settings.toml",))

    with pytest.raises(quick.NotQuick, match="mark it `program`: .*starts true"):
        quick.refuse_processes("subprocess.Popen", ("true",))


async def test_a_test_of_the_inner_loop_sleeps_a_moment_at_most():
    quick.short_pause(0.01)
    await quick.short_turn(0.01)

    with pytest.raises(quick.NotQuick, match="mark it `slow`: .*sleeps 0.21 s"):
        quick.short_pause(0.21)
    with pytest.raises(quick.NotQuick, match="mark it `slow`: .*sleeps 0.21 s"):
        await quick.short_turn(0.21)
