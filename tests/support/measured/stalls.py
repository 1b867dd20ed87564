"""The delays of the event loop, on any machine.

    async with watched() as stalls:
        …
    assert stalls.longest < 0.05

On a busy machine a thread waits for a processor: the time that the loop's own thread has waited,
as the kernel reports it, is not counted. The garbage collector does not process the tests' own
objects meanwhile, which takes 0.2 s for the whole suite.
"""

from __future__ import annotations

import asyncio
import gc
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

TICK_SECONDS: Final = 0.001
_OWN_TURNS: Final = Path("/proc/thread-self/schedstat")


class Stalls:
    """The longest time between two turns of the loop, in seconds, and how many there were.

    `busiest` is the most that the loop itself computed in between: beside many others on one
    machine, a thread that holds the interpreter's lock may wait, and the loop with it.
    """

    longest = 0.0
    busiest = 0.0
    turns = 0


@asynccontextmanager
async def watched():
    gc.collect()
    gc.freeze()
    stalls = Stalls()
    ticking = asyncio.ensure_future(_tick(stalls))
    await asyncio.sleep(2 * TICK_SECONDS)
    try:
        yield stalls
    finally:
        await asyncio.sleep(2 * TICK_SECONDS)  # a delay is noticed when it has ended
        ticking.cancel()
        gc.unfreeze()


async def _tick(stalls: Stalls) -> None:
    while True:
        began, delayed, computed = time.monotonic(), _delayed(), time.thread_time()
        await asyncio.sleep(TICK_SECONDS)
        stalls.busiest = max(stalls.busiest, time.thread_time() - computed)
        took = time.monotonic() - began - TICK_SECONDS
        if took > stalls.longest:  # only then its cause is of interest
            stalls.longest = max(stalls.longest, took - (_delayed() - delayed))
        stalls.turns += 1


def _delayed() -> float:
    """The seconds that this thread was ready, and had no processor."""
    return int(_OWN_TURNS.read_text().split()[1]) / 1e9 if _OWN_TURNS.exists() else 0.0
