"""The event loop of a test: the fixture `io_loop` of pytest-tornado, without leftovers.

What a test leaves on its loop ends with it: its tasks are cancelled and awaited, its connections
closed. What a failed test leaves unclosed is collected at once and in silence: else a warning of
it would fail whichever test runs then.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Iterator
from typing import Final

import pytest
from tornado.ioloop import IOLoop

# Of the loop itself, which the gate lets read a clock without asking who reads it.
_clock: Final = time.monotonic
_CANCELLATIONS: Final = 3
_WAIT_SECONDS: Final = 1.0
_FAILED: Final = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    result = yield
    if item.stash.get(_FAILED, False):
        _collect_in_silence()
    return result


def _collect_in_silence() -> None:
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):  # they hold the frames of the failure
            delattr(sys, name)
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        gc.collect()
    finally:
        sys.unraisablehook = hook


@pytest.fixture
def io_loop() -> Iterator[IOLoop]:
    loop = IOLoop()
    loop.make_current()
    loop.asyncio_loop.time = _clock
    yield loop
    loop.run_sync(_end_leftovers)
    loop.clear_current()
    loop.close(all_fds=True)


async def _end_leftovers() -> None:
    for _ in range(_CANCELLATIONS):  # a task may use one up
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if not left:
            break
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=_WAIT_SECONDS)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    for transport in [*getattr(loop, "_transports", {}).values()]:
        if not transport.is_closing():
            transport.abort()
    await asyncio.sleep(0)  # in which their sockets are closed
