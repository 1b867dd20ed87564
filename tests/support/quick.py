"""The rules of `tox -e quick`: no test starts a process or sleeps for long.

A pytest plug-in that does nothing unless `IDP_TEST_QUICK` is in the environment.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Final

import pytest

VARIABLE: Final = "IDP_TEST_QUICK"
MOST_SECONDS: Final = 0.2
TESTS: Final = str(Path(__file__).parents[1])
STARTS: Final = {"os.exec", "os.fork", "os.posix_spawn", "os.system", "subprocess.Popen"}

_running: list[str] = []  # the test that runs, if one does
_pause, _turn = time.sleep, asyncio.sleep


class NotQuick(BaseException):
    """A test breaks a rule of quick tests; no `except Exception` hides it."""


def pytest_configure():
    if VARIABLE in os.environ:
        sys.addaudithook(refuse_processes)
        time.sleep, asyncio.sleep = short_pause, short_turn


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    _running.append(item.nodeid)
    try:
        return (yield)
    finally:
        _running.clear()


def refuse_processes(event, args):
    if event in STARTS and _running:
        raise NotQuick(f"mark it `program`: {_running[0]} starts {args[0]}")


def short_pause(seconds):
    _pause(seconds)
    _check(seconds, sys._getframe(1))


def short_turn(delay, result=None):
    return _checked(delay, result, sys._getframe(1))


async def _checked(delay, result, caller):
    """A sleep that is cancelled in time does not count."""
    await _turn(delay)
    _check(delay, caller)
    return result


def _check(seconds, caller):
    if seconds > MOST_SECONDS and caller.f_code.co_filename.startswith(TESTS) and _running:
        raise NotQuick(f"mark it `slow`: {_running[0]} sleeps {seconds} s")
