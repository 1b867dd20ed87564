"""What a test of the gate must not do: start a process, sleep, or measure time.

A pytest plug-in. A test that is red or green by the speed of the machine stops work that is
sound, so the gate refuses what makes it so, where a module of `tests/` does it. A test marked
`smoke` may start processes. `tests/support/patience.py` waits for all of them.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from tests.support import patience
from tests.support.suites import GATE

TESTS: Final = str(Path(__file__).parents[2])
PROCESSES: Final = {"os.exec", "os.fork", "os.posix_spawn", "os.system", "subprocess.Popen"}
CLOCKS: Final = ("monotonic", "perf_counter", "process_time", "thread_time")

_running: list[pytest.Item] = []  # the test that runs, if one does


class NotInGate(BaseException):
    """A test does what the gate refuses; no `except Exception` hides it."""


def pytest_configure(config):
    if config.getoption("--suite") == GATE:
        sys.addaudithook(refuse_processes)
        time.sleep, asyncio.sleep = _refusing_sleep(time.sleep), _refusing_sleep(asyncio.sleep)
        for name in (*CLOCKS, *(f"{each}_ns" for each in CLOCKS)):
            setattr(time, name, _refusing_clock(name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    _running.append(item)
    try:
        return (yield)
    finally:
        _running.clear()


def refuse_processes(event, args):
    """An audit hook. Raises `NotInGate` where a test starts a process and is no `smoke` test."""
    if event in PROCESSES and _running and not _running[0].get_closest_marker("smoke"):
        started = args[0] if args else event
        raise NotInGate(f"{_running[0].nodeid} starts {started}: mark it `full` or `smoke`")


def _refusing_sleep(sleep):
    def refusing(delay, *args):
        if delay > 0:
            refuse_from_tests(sys._getframe(1), f"sleeps {delay} s")
        return sleep(delay, *args)

    return refusing


def _refusing_clock(name):
    read = getattr(time, name)

    def refusing():
        refuse_from_tests(sys._getframe(1), f"reads time.{name}")
        return read()

    return refusing


def refuse_from_tests(caller, does):
    """Raises `NotInGate` if a module of `tests/` is the caller, during a test."""
    file = caller.f_code.co_filename
    if _running and file.startswith(TESTS) and file != patience.__file__:
        test = _running[0]
        if not test.get_closest_marker("smoke"):
            raise NotInGate(f"{test.nodeid} {does} in {Path(file).name}: mark it `full` or `load`")
