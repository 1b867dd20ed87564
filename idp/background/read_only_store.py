"""A warning in the log while the store can be read but not written to."""

from __future__ import annotations

import asyncio
from typing import Final

from idp.foundation import logs
from storage import Store

POLL_SECONDS: Final = 1.0
WARNS_EVERY_SECONDS: Final = 60.0

_log: Final = logs.logger(__name__)


async def warn(store: Store) -> None:
    """Logs a warning once a minute as long as the last write of this process has failed; it never
    returns."""
    while True:
        if store.is_read_only:
            _log.warning("the store can't be written to; reads continue")
            await asyncio.sleep(WARNS_EVERY_SECONDS)
        else:
            await asyncio.sleep(POLL_SECONDS)
