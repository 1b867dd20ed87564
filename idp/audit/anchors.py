"""Anchors in the log: once an hour the heads of the streams are written to a place that a
program which changes the database can't write to."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from idp.audit import event_streams
from idp.foundation import logs
from idp.records import AUDIT_HEADS
from idp.service import Service
from storage import Stale, Update

EVERY: Final = timedelta(hours=1)

_log = logs.logger(__name__)


async def write(service: Service) -> None:
    """Logs the head of each stream that has grown since the last time, once an hour. Raises
    StorageError."""
    now = service.clock.now()
    for head in (await event_streams.heads(service)).values():
        # An instant in the future was not stored by the service, and must not end the anchors.
        is_due = head.anchored_at is None or abs(now - head.anchored_at) >= EVERY
        if head.position == head.anchored_position or not is_due:
            continue
        anchor = {"anchored_at": now, "anchored_position": head.position}
        try:
            await service.store.commit(
                Update(AUDIT_HEADS, head.id, set=anchor, expect={"anchored_at": head.anchored_at})
            )
        except Stale:  # another process has logged it
            continue
        _log.info("audit head", stream=head.id, position=head.position, chain=head.chain)
