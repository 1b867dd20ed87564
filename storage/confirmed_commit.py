"""Units whose outcome is certain for the caller, even when the answer of the database was lost."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from storage import deadline
from storage.base import Store, Unavailable, Unknown, Write

CONFIRMED_WITHIN_SECONDS: Final = 8.0  # shorter than the usual request timeout of a load balancer
_POLL_SECONDS: Final = 0.25


async def commit_confirmed(
    store: Store, *writes: Write, within_seconds: float | None = None
) -> None:
    """Commits a unit; when the answer was lost, waits until the store can report whether it was
    applied, and returns only if it was.

    This is for units that can't simply be repeated: the second attempt would find the code
    used, or the browser with another secret, and mistake that for the change of another request.
    Raises the errors of `commit`, Unavailable if the unit was not applied; Unknown only when the
    store has no answer for `within_seconds`, by default CONFIRMED_WITHIN_SECONDS, or until the
    deadline of the request (`storage.deadline`)."""
    limit_seconds = CONFIRMED_WITHIN_SECONDS if within_seconds is None else within_seconds
    try:
        await store.commit(*writes)
    except Unknown as error:
        with deadline.running():
            if not await _was_applied(store, error, deadline.seconds_left(limit_seconds)):
                raise Unavailable("the unit was not applied after all") from error


async def _was_applied(store: Store, error: Unknown, within_seconds: float) -> bool:
    ends_at = time.monotonic() + within_seconds
    while time.monotonic() < ends_at:
        try:
            answer = await store.applied(error.unit)
        except (Unavailable, Unknown):
            await asyncio.sleep(_POLL_SECONDS)
            continue
        if answer is not None:
            return answer
        break  # the unit left no mark
    raise error
