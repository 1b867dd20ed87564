"""A store whose process is ended by SIGKILL at a chosen write, before it or after it.

    store = crashing(open_store(…), "before 3")     # at the third write
    store = crashing(open_store(…))                 # as IDP_TEST_CRASH says; never without it

A *write* is one call of `commit`, `commit_each`, `increment` or `reset`, numbered from 1 in the
order in which they begin. What comes when it comes is not counted: turns at background work, what
comes of messages to applications, when a credential was last used, events and sums of what was
refused, which are written after the answer, and the sealing of events.
Before: nothing of it has reached the back end. After: it was acknowledged, and nobody has been
told. `python -m tests.support.programs.crashing serve …` is the product's command line with such
a store.
"""

from __future__ import annotations

import os
import signal
from contextlib import asynccontextmanager
from typing import Any, Final

from idp.records import (
    AUDIT_FLOORS,
    AUDIT_HEADS,
    AUDIT_KEYS,
    EVENTS,
    LAST_USES,
    LEASES,
    LOGOUT_MESSAGES,
)

CRASH_VARIABLE: Final = "IDP_TEST_CRASH"
_UNCOUNTED: Final = (  # units of nothing else
    AUDIT_FLOORS,
    AUDIT_HEADS,
    AUDIT_KEYS,
    EVENTS,
    LAST_USES,
    LEASES,
    LOGOUT_MESSAGES,
)


class CrashingStore:
    """The wrapped store; `writes` counts its writes."""

    def __init__(self, store: Any, crash: str = "") -> None:
        self._store = store
        when, _, number = crash.partition(" ")
        if when not in ("", "before", "after"):
            raise ValueError(f"{crash!r} is neither 'before N' nor 'after N'")
        self._crash = (when, int(number or 0))
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, *writes):
        if all(write.collection in _UNCOUNTED for write in writes):
            await self._store.commit(*writes)
            return
        async with self._write():
            await self._store.commit(*writes)

    async def commit_each(self, units):
        async with self._write():
            return await self._store.commit_each(units)

    async def increment(self, key, by=1, *, window):
        if key.startswith("refused:"):
            return await self._store.increment(key, by, window=window)
        async with self._write():
            return await self._store.increment(key, by, window=window)

    async def reset(self, key):
        async with self._write():
            await self._store.reset(key)

    @asynccontextmanager
    async def _write(self):
        self.writes += 1
        number = self.writes
        self._die_at("before", number)
        yield
        self._die_at("after", number)

    def _die_at(self, when: str, number: int) -> None:
        if self._crash == (when, number):
            die()


def crashing(store: Any, crash: str | None = None) -> CrashingStore:
    """The store that ends its process at `crash`, "before N" or "after N"; by default as the
    environment says.

    A refused write (Stale, Conflict) ends no process "after": nothing was acknowledged.
    """
    return CrashingStore(store, os.environ.get(CRASH_VARIABLE, "") if crash is None else crash)


def die() -> None:
    """Ends this process immediately, as `kill -9` does: nothing is flushed, closed or answered."""
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """The product's command line, on a store that crashes as the environment says."""
    from idp.cli import main as command_line
    from idp.start import bootstrap

    opened = bootstrap.open_store
    bootstrap.open_store = lambda *args, **options: crashing(opened(*args, **options))
    command_line()


if __name__ == "__main__":
    main()
