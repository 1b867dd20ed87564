"""The duties of a service that is the first process of a container, which has no other init."""

from __future__ import annotations

import asyncio
import os
import signal
from types import FrameType
from typing import Final

_CHECK_SECONDS: Final = 2.0
_NEXT_CHECK_SECONDS: Final = 0.1  # while there is a child that has ended


def is_first() -> bool:
    """Returns whether this is the first process of a container (or of the machine)."""
    return os.getpid() == 1


def end_on_sigterm() -> None:
    """Makes SIGTERM end this process if it is the first one (PID 1), for which the kernel ignores
    signals without a handler; otherwise does nothing.
    """
    if is_first():
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, _: FrameType | None) -> None:
    os._exit(128 + number)  # as a shell reports it


async def reap_orphans() -> None:
    """Reaps, until it is cancelled, the ended processes that this one has inherited, so that they
    do not remain as zombies.

    Children of its own are left to the event loop, which reaps them immediately: a process that
    has ended and is still there at the next check is an orphan.
    """
    ended: int | None = None
    while True:
        ended = _reap(ended)
        # Twice, so that the event loop has certainly looked for its own children meanwhile.
        for _ in range(2):
            await asyncio.sleep(_CHECK_SECONDS if ended is None else _NEXT_CHECK_SECONDS)


def _reap(ended: int | None) -> int | None:
    """Reaps this ended child if it is still there; returns the next one that has ended."""
    try:
        child = _next_ended()
        if child is not None and child == ended:
            os.waitpid(child, os.WNOHANG)
            child = _next_ended()
    except ChildProcessError:  # there is no child
        return None
    return child


def _next_ended() -> int | None:
    """Returns a child that has ended and is not reaped; raises ChildProcessError if there is no
    child.
    """
    result = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return None if result is None else result.si_pid
