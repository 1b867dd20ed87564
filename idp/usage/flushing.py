"""Stores what this process has counted."""

from __future__ import annotations

from typing import Final

from idp.service import Service
from idp.usage import active_users, counts
from storage import StorageError

EVERY_SECONDS: Final = 10.0


async def flush(service: Service) -> None:
    """Stores sign-ins and counts of this process, a limited number. Raises StorageError; the
    next call stores what this one could not.

    If the wait for it is cancelled, the end of the process waits for what it has begun.
    """
    failures = list[StorageError]()

    async def work() -> None:
        try:
            await active_users.flush(service)
            await counts.flush(service)
        except StorageError as error:
            failures.append(error)

    await service.background_tasks.run(work())
    for error in failures:
        raise error


async def flush_all(service: Service) -> None:
    """Stores all sign-ins and counts of this process, at its end. Raises StorageError."""
    while service.active_users or service.usage:
        await flush(service)
