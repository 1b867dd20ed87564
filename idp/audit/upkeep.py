"""What the audit log needs from time to time, beside the sealing of new events."""

from __future__ import annotations

from typing import Final

from idp.audit import failure_events
from idp.service import Service

EVERY_SECONDS: Final = 60


async def tend(service: Service) -> None:
    """Finishes counts of refused attempts whose process has ended. Raises StorageError."""
    await failure_events.finish_abandoned(service)
