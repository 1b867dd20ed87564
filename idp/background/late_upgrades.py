"""The late steps of an upgrade, which a process runs beside its other work once they are due."""

from __future__ import annotations

from typing import Final

from idp.foundation import logs
from idp.records import SCHEMA
from idp.service import Service
from storage import StorageError
from storage.upgrades import upgrade_late

POLL_SECONDS: Final = 600.0

_log: Final = logs.logger(__name__)


async def run(service: Service) -> None:
    """Runs the late upgrade steps when they are due; returns when the store has all of them."""
    while not await _are_done(service):
        await service.timer.sleep(POLL_SECONDS)


async def _are_done(service: Service) -> bool:
    try:
        return await upgrade_late(
            service.store, SCHEMA, service.clock.now, new_id=service.random.id
        )
    except StorageError as error:
        _log.warning("background work waits for the store", job="upgrade", error=str(error))
        return False
