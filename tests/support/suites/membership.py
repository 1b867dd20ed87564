"""Which suite a test belongs to: a pytest plug-in with the option `--suite`.

The suite follows from the test's marks, folder, fixtures and rows; `suite_of` has the rules.
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.suites import FULL, GATE, LOAD, SUITES

TESTS: Final = Path(__file__).parents[2]
LOAD_FOLDERS: Final = {"benchmarks", "fire", "floods"}
FULL_FOLDERS: Final = {
    *("browser", "deploy", "fuzz", "interop", "mutants", "screens", "upgrades", "walks"),
}
# Fixtures that start a process or need a database.
STARTING: Final = {
    *("chromium", "emptied_mongodb", "mongod", "mongod_trio", "mongodb", "npm"),
    *("programs", "second_process", "standalone", "start_program", "start_test_program"),
    "uninitiated",
}
# Rows of a table that name a store outside of this process, or a second way to one.
OTHER_STORES: Final = {
    *("mongodb", "pymongo", "motor", "mongomock", "overlay", "overlay-filled", "trio"),
}
# A table of tests with one of these is thinned: its rows cost far more than those of a function.
COSTLY: Final = {"backend", "place", "server", "store"}
MOST_ROWS: Final = 3
# The protocol and its attackers, by the beginnings of the files' names: `tox -e full` runs them
# once more with the defaults of a public installation.
IS_PUBLIC: Final = os.environ.get("IDP_TEST_PROFILE") == "public"
PUBLIC: Final = (
    *("test_acting", "test_api_acting", "test_api_covered", "test_api_hostile", "test_artefacts"),
    *("test_authorize", "test_client_a", "test_end_session", "test_guess", "test_hostile_notes"),
    *("test_implicit", "test_introspection", "test_order_of_checks", "test_par"),
    *("test_peer_failures", "test_redirect_uri", "test_refresh_reuse", "test_refusals"),
    *("test_revocation", "test_tenant_domains", "test_token", "test_userinfo"),
)


def pytest_addoption(parser):
    parser.addoption("--suite", choices=SUITES, default=GATE, help="which tests to run")


def pytest_report_header(config):
    return f"suite: {config.getoption('--suite')}"


def pytest_ignore_collect(collection_path, config):
    """The gate does not even import what is never in it."""
    is_left_out = collection_path.name in LOAD_FOLDERS | FULL_FOLDERS
    return (config.getoption("--suite") == GATE and is_left_out) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    chosen = config.getoption("--suite")
    wanted = {GATE, FULL} if chosen == FULL else {chosen}
    suites = suites_of(items)
    left_out = [item for item in items if suites[item] not in wanted or not _is_asked(item.path)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


def _is_asked(path: Path) -> bool:
    """Whether a run with the defaults of a public installation, if this is one, has the file."""
    return not IS_PUBLIC or is_public(path)


def is_public(path: Path) -> bool:
    return TESTS / "handlers" in path.parents and path.name.startswith(PUBLIC)


def suites_of(items):
    """The suite of each test. Of a table in the gate whose rows are costly, the first, the middle
    and the last one stay there."""
    suites = {item: suite_of(item) for item in items}
    tables = defaultdict(list)
    for item in items:
        if suites[item] == GATE and COSTLY & set(item.fixturenames):
            tables[item.path, getattr(item, "cls", None), item.originalname].append(item)
    for rows in tables.values():
        if len(rows) > MOST_ROWS and not rows[0].get_closest_marker("every_row"):
            stay = {round(n * (len(rows) - 1) / (MOST_ROWS - 1)) for n in range(MOST_ROWS)}
            suites |= {row: FULL for n, row in enumerate(rows) if n not in stay}
    return suites


def suite_of(item) -> str:
    """The suite of a test by itself; the first rule that holds."""
    if any(
        not mark.args or row_values(item) & set(mark.args) for mark in item.iter_markers("load")
    ):
        return LOAD
    if item.get_closest_marker("smoke"):
        return GATE
    folders = set(item.path.relative_to(TESTS).parts[:-1])
    if folders & LOAD_FOLDERS:
        return LOAD
    is_full = item.get_closest_marker("full") or folders & FULL_FOLDERS or _leaves_process(item)
    return FULL if is_full or _is_repeated(item, folders) else GATE


def _leaves_process(item) -> bool:
    return bool(set(item.fixturenames) & STARTING or row_values(item) & OTHER_STORES)


def _is_repeated(item, folders: set[str]) -> bool:
    """Whether another test of the gate proves the same."""
    if "flows" in folders and params_of(item).get("place", "memory") != "memory":
        return True  # in a started program
    # The store in memory is the same one, in a temporary file.
    return "backend" in item.fixturenames and "sqlite" in row_values(item)


def row_values(item) -> set[str]:
    """The values of a test's parameters that are words."""
    return {value for value in params_of(item).values() if isinstance(value, str)}


def params_of(item) -> dict[str, Any]:
    """The row of a parametrized test, by the names of its parameters."""
    return getattr(getattr(item, "callspec", None), "params", {})
