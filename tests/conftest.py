"""What every test has: coroutine tests on Tornado's loop, and the plug-ins."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os

import hypothesis
import pytest

# Whatever a test calls is on this machine.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"

pytest_plugins = [
    "tests.support.loop",
    "tests.support.measured.counting",
    "tests.support.measured.counts",
    "tests.support.programs.program",
    "tests.support.servers.collector",
    "tests.support.servers.mail_server",
    "tests.support.servers.mongod",
    "tests.support.servers.receiver",
    "tests.support.service",
    "tests.support.programs.in_process",  # it imports those before it
    "tests.support.suites.membership",
    "tests.support.suites.promises",
    "tests.support.suites.refusals",
]

# Rarely: the garbage collector took up to a sixth of all processor time.
gc.set_threshold(200_000, 20, 50)
# Otherwise pytest-tornado's first `io_loop` makes asyncio create a loop that nobody ever closes.
asyncio.set_event_loop(None)

# The gate draws the same examples in every run; the other suites draw new ones.
UNTIMED = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile(
    "gate", derandomize=True, database=None, max_examples=40, **UNTIMED
)
hypothesis.settings.register_profile("random", print_blob=True, **UNTIMED)


def pytest_configure(config):
    is_gate = config.getoption("--suite") == "gate"
    hypothesis.settings.load_profile("gate" if is_gate else "random")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A coroutine is a test on the fixture `io_loop`, without a mark on each.

    pytest-tornado has no coroutine fixtures: fixtures are plain and use `io_loop.run_sync`.
    """
    for item in items:
        is_coroutine = inspect.iscoroutinefunction(getattr(item, "function", None))
        if is_coroutine and item.get_closest_marker("gen_test") is None:
            item.add_marker(pytest.mark.gen_test)


def pytest_collectreport(report):
    """With `CI` in the environment, no module is left out because something is not installed."""
    if report.skipped and os.environ.get("CI"):
        report.outcome = "failed"


def pytest_collection_finish():
    """The collector of garbage leaves alone what lives to the end: modules and tests."""
    gc.collect()
    gc.freeze()
