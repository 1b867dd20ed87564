"""Each promise of `tests/promises.toml` has a test in the gate that ran: a pytest plug-in.

A whole run of the gate fails at its collection if a promise has no test there, or a mark names no
promise; and at its end if all tests of a promise were skipped.
"""

from __future__ import annotations

import pytest

from tests.support.conformance import promises
from tests.support.suites import GATE

IS_WHOLE = pytest.StashKey[bool]()
PROBLEM = "promises"
NARROWING = ("keyword", "markexpr", "lf", "failedfirst", "deselect", "ignore", "ignore_glob")

_problems: set[str] = set()
_skipped: set[str] = set()
_ran: set[str] = set()


def pytest_configure(config):
    config.stash[IS_WHOLE] = is_whole(config)


def is_whole(config) -> bool:
    """Whether this run has all tests of the gate; a worker of pytest-xdist is told."""
    if told := getattr(config, "workerinput", None):
        return told["is_whole_gate"]
    is_gate = config.getoption("--suite") == GATE
    is_narrowed = any(config.getoption(name, None) for name in NARROWING)
    return is_gate and config.args_source is not config.ArgsSource.ARGS and not is_narrowed


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["is_whole_gate"] = node.config.stash[IS_WHOLE]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if not config.stash[IS_WHOLE]:
        return
    if not (problem := problem_of(items)):
        return
    if not hasattr(config, "workerinput"):
        raise pytest.UsageError(problem)
    items.clear()  # pytest-xdist would not print what a worker raises here
    config.workeroutput[PROBLEM] = problem


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    if problem := getattr(node, "workeroutput", {}).get(PROBLEM):
        _problems.add(problem)


def problem_of(items) -> str | None:
    """What is wrong with the marks of the gate's tests, None if nothing is."""
    try:
        kept = {promise for item in items for promise in promises_of(item)}
    except pytest.UsageError as error:
        return str(error)
    return difference(kept, set(promises()))


def difference(kept: set[str], known: set[str]) -> str | None:
    """How the marks of the gate's tests differ from the promises, None if they do not."""
    if missing := sorted(known - kept):
        return f"promises without a test in the gate: {', '.join(missing)}"
    if unknown := sorted(kept - known):
        return f"marks that name no promise: {', '.join(unknown)}"
    return None


def promises_of(item) -> list[str]:
    """The promises that a test checks. Raises `pytest.UsageError` if its marks name one twice."""
    marks = [*item.iter_markers("promise")]
    names = [name for mark in marks for name in mark.args]
    if len(set(names)) != len(names) or not all(mark.args for mark in marks):
        raise pytest.UsageError(f"{item.nodeid} names a promise twice, or none")
    return names


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    report.promises = promises_of(item)  # a worker of pytest-xdist sends it along
    return report


def pytest_runtest_logreport(report):
    if report.skipped:
        _skipped.update(report.promises)
    elif report.when == "call":
        _ran.update(report.promises)


def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput") or not session.config.stash[IS_WHOLE]:
        return
    _problems.update(f"promise whose tests were skipped: {name}" for name in _skipped - _ran)
    if _problems:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(terminalreporter):
    for problem in sorted(_problems):
        terminalreporter.write_line(f"ERROR: {problem}", red=True)
