"""How long a test waits for what has to happen: longer than the slowest machine takes.

A limit in a test guards against hanging. It is no assertion, so there is one for all.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any, Final

SECONDS: Final = 300.0
_PAUSE_SECONDS: Final = 0.002


async def until(happens: Callable[[], Any], name: str = "", seconds: float = SECONDS) -> Any:
    """Returns the result of `happens`, which may be a coroutine function, as soon as it is true.

    The loop runs meanwhile. Raises `AssertionError` with the name after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not (found := await _value(happens())):
        assert time.monotonic() < deadline, f"{name or happens} did not happen in {seconds} s"
        await asyncio.sleep(_PAUSE_SECONDS)
    return found


def eventually(happens: Callable[[], Any], name: str = "", seconds: float = SECONDS) -> Any:
    """As `until`, without a loop: for what other processes or threads do."""
    deadline = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < deadline, f"{name or happens} did not happen in {seconds} s"
        time.sleep(10 * _PAUSE_SECONDS)
    return found


def pause() -> None:
    """A pause of a peer that a test plays: nothing depends on its length."""
    time.sleep(5 * _PAUSE_SECONDS)


async def loop_turns(number: int) -> None:
    """Runs the loop `number` times: enough for all that is ready to have happened."""
    for _ in range(number):
        await asyncio.sleep(0)


async def _value(found: Any) -> Any:
    return await found if inspect.isawaitable(found) else found
