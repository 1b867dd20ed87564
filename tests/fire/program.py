"""The product's command line, on a store that crashes when it is told to.

The file that IDP_TEST_CRASH names holds "before N" or "after N": writes are numbered from 1 since
it last changed. While there is no such file, nothing happens. The writes that reset the counts of
failures have no number: they follow the answer, while the next request may be there already.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from contextvars import ContextVar
from pathlib import Path

from idp.cli import main
from idp.identity.sessions import password_check
from idp.start import bootstrap
from tests.support.programs.crashing import CRASH_VARIABLE, CrashingStore

_resets_counts = ContextVar("resets counts", default=False)


class ObedientStore(CrashingStore):
    """Dies as the file says, which is looked at before each write."""

    def __init__(self, store, plan: Path) -> None:
        super().__init__(store)
        self._plan, self._told = plan, ""

    def _write(self):
        if _resets_counts.get():
            return nullcontext()
        told = self._plan.read_text() if self._plan.exists() else ""
        if told != self._told:
            self._told, self.writes = told, 0
            when, _, number = told.partition(" ")
            self._crash = (when, int(number or 0))
        return super()._write()


async def reset_counts(service, checked) -> None:
    token = _resets_counts.set(True)
    try:
        await succeeded(service, checked)
    finally:
        _resets_counts.reset(token)


if __name__ == "__main__":
    opened, plan = bootstrap.open_store, Path(os.environ[CRASH_VARIABLE])
    bootstrap.open_store = lambda *args, **options: ObedientStore(opened(*args, **options), plan)
    succeeded, password_check.succeeded = password_check.succeeded, reset_counts
    main()
