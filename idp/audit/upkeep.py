"""The scheduled task that finishes counts of refused attempts whose process has ended before it
stored their event.
"""

from __future__ import annotations

from typing import Final

from idp.audit import anchors, failure_events, retention
from idp.service import Service

EVERY_SECONDS: Final = 60


async def maintain(service: Service) -> None:
    """Finishes counts of refused attempts whose process has ended, logs the heads of the streams
    once an hour, and removes old events. Raises ChainLost, WrongKey, StorageError."""
    await failure_events.finish_abandoned(service)
    await anchors.write(service)
    await retention.remove_old(service)
