"""What every test has: coroutine tests on Tornado's loop, and the plug-ins."""

from __future__ import annotations

import asyncio
import gc
import inspect
from pathlib import Path

import pytest

pytest_plugins = [
    "tests.support.servers.collector",
    "tests.support.measured.counting",
    "tests.support.measured.counts",
    "tests.support.servers.mail_server",
    "tests.support.servers.mongod",
    "tests.support.programs.program",
    "tests.support.quick",
    "tests.support.servers.receiver",
    "tests.support.service",
]

# Rarely: the garbage collector took up to a sixth of all processor time.
gc.set_threshold(200_000, 20, 50)
# Otherwise pytest-tornado's first `io_loop` makes asyncio create a loop that nobody ever closes.
asyncio.set_event_loop(None)


TESTS = Path(__file__).parent
HANDLERS = TESTS / "handlers"

# What `tox -e quick` leaves out, by folder, by fixture and by a parameter's value.
OF_FOLDERS = {
    **{"browser": "browser", "screens": "browser", "interop": "interop"},
    **{"program": "program", "fire": "program", "benchmarks": "slow"},
}
OF_FIXTURES = {
    **dict.fromkeys(("mongod", "mongodb", "emptied_mongodb", "mongod_trio"), "mongo"),
    **dict.fromkeys(("standalone", "uninitiated"), "mongo"),
    **dict.fromkeys(("start_program", "installed", "stopped", "second_process"), "program"),
}
ON_MONGODB = {"mongodb", "pymongo", "motor"}

# The protocol and its attackers: what `tox -e public` runs, by the beginning of the file's name.
PUBLIC = (
    *("test_acting", "test_api_acting", "test_api_covered", "test_api_hostile", "test_artefacts"),
    *("test_authorize", "test_client_a", "test_end_session", "test_guess", "test_hostile_notes"),
    *("test_implicit", "test_introspection", "test_order_of_checks", "test_par"),
    *("test_peer_failures", "test_redirect_uri", "test_refresh_reuse", "test_refusals"),
    *("test_revocation", "test_tenant_domains", "test_token", "test_userinfo"),
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A coroutine is a test on pytest-tornado's `io_loop`, without a mark on each; tests of the
    protocol are marked to run in the public profile, too; and what the quick run leaves out is
    marked with the reason.

    pytest-tornado has no coroutine fixtures: fixtures are plain and use `io_loop.run_sync`.
    """
    for item in items:
        for mark in kinds(item):
            item.add_marker(mark)
        if is_public(item.path):
            item.add_marker(pytest.mark.public)
        is_coroutine = inspect.iscoroutinefunction(getattr(item, "function", None))
        if is_coroutine and item.get_closest_marker("gen_test") is None:
            item.add_marker(pytest.mark.gen_test)


def is_public(path):
    """Whether `tox -e public` runs the tests of a file; its folders are in `tox.ini`, too."""
    return HANDLERS in path.parents and path.name.startswith(PUBLIC)


def kinds(item):
    """The marks of what a test needs: a program, a browser, MongoDB."""
    marks = {OF_FOLDERS.get(part) for part in item.path.relative_to(TESTS).parts}
    marks |= {OF_FIXTURES.get(name) for name in getattr(item, "fixturenames", ())}
    values = getattr(getattr(item, "callspec", None), "params", {}).values()
    marks |= {"mongo" for value in values if isinstance(value, str) and value in ON_MONGODB}
    if "mongo" in marks and item.get_closest_marker("deep_on_mongodb"):
        marks.add("deep")
    return sorted(marks - {None})


def pytest_collection_finish():
    """The collector of garbage leaves alone what lives to the end: modules and tests."""
    gc.collect()
    gc.freeze()
