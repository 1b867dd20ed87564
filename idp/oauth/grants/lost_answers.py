"""Answers with tokens that reached no one, so that the client may repeat its request.

A code is redeemed once, and a refresh token is replaced by its use. Where the store was reached
but its answer was lost, or the client had disconnected, the client still holds what it sent. Then
that can be used once more until it expires: the record states which use was not answered. A second
use after one that was answered is a replay as before.
"""

from __future__ import annotations

from typing import Final

from idp.service import Service
from storage import Stale, Unavailable, Unknown, Update, Write
from storage.base import Unit
from storage.confirmed_commit import commit_confirmed
from storage.writability import seconds_since_failure

RETRY_SECONDS: Final = 1.0
# For so long after a failed write, the processes may not have recorded yet what was not answered.
RECORDED_AFTER_SECONDS: Final = 10.0


async def commit(service: Service, *writes: Write, if_lost: Update) -> None:
    """Commits the unit that uses up a code or a refresh token, as `commit_confirmed` does. If its
    outcome remains unknown, `if_lost` is committed once the store answers again; it states that
    the use was not answered."""
    try:
        await commit_confirmed(service.store, *writes)
    except Unknown as error:
        service.background_tasks.start_until_stop(_find_out(service, error.unit, if_lost))
        raise


def record(service: Service, if_lost: Update) -> None:
    """Records that the answer to a use did not reach its client."""
    service.background_tasks.start_until_stop(_commit(service, if_lost))


def refuse_while_uncertain(service: Service) -> None:
    """Raises Unavailable while this process has still to record that a use was not answered, and
    shortly after a failed write, while another process may have: the request must be repeated and
    not taken for a replay."""
    is_recording = service.background_tasks.has_waiting
    if is_recording or seconds_since_failure(service.store) < RECORDED_AFTER_SECONDS:
        raise Unavailable("whether the first use was answered is not known yet")


async def _find_out(service: Service, unit: Unit, if_lost: Update) -> None:
    """Waits until the store knows whether the unit was applied, and records it in that case."""
    while True:
        try:
            was_applied = await service.store.applied(unit)
        except (Unavailable, Unknown):
            await service.timer.sleep(RETRY_SECONDS)
            continue
        if was_applied:
            await _commit(service, if_lost)
        return


async def _commit(service: Service, if_lost: Update) -> None:
    while True:
        try:
            await service.store.commit(if_lost)
        except (Unavailable, Unknown):
            await service.timer.sleep(RETRY_SECONDS)
        except Stale:
            return  # its tokens were used, so they arrived; or everything was revoked
        else:
            return
