"""Counts wrong passwords and codes of users in the store (`FailureStreak`); the policy is
`idp.limits.account_attempts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import structs

from idp.foundation import logs
from idp.foundation.errors import Busy
from idp.identity.guesses import counting
from idp.limits import account_attempts, throttled
from idp.limits.account_attempts import CountedAttempt
from idp.limits.backoffs import Delayed
from idp.limits.compare_and_set import ReadRecord
from idp.records import FAILURE_STREAKS, FailureStreak
from idp.service import Service
from storage import StorageError

_log = logs.logger(__name__)

A = TypeVar("A", CountedAttempt, CountedAttempt | None)
ChangeStreak = Callable[[FailureStreak], FailureStreak]


async def count(
    service: Service,
    user_id: str,
    stored: FailureStreak | None,
    decide_attempt: Callable[[FailureStreak], A | Delayed],
) -> A:
    """Counts an attempt as `decide_attempt` says of the user's streak, and returns the decision
    with the streak as it is stored then; None, and counts nothing, if that is the decision.

    `stored` is the streak as it was read, None if there was none. Raises Throttled, Busy,
    StorageError; then nothing is counted.
    """

    def decision(streak: FailureStreak | None) -> tuple[FailureStreak | None, A]:
        attempt = decide_attempt(streak or FailureStreak(id=user_id))
        if isinstance(attempt, Delayed):
            raise throttled.delayed(attempt.until, service.clock.now())
        return attempt.streak if attempt else streak, attempt

    read = ReadRecord(FAILURE_STREAKS, user_id, stored)
    streak, attempt = await counting.decide(service, read, decision)
    return attempt and structs.replace(attempt, streak=streak)


async def change(service: Service, stored: FailureStreak | None, changed: ChangeStreak) -> None:
    """Changes a user's streak, unless there is none, and deletes it if nothing is counted any
    more.

    Errors are logged and ignored: a count that remains delays a user, and admits no one.
    """
    if stored is None:
        return

    def change_or_delete(streak: FailureStreak | None) -> FailureStreak | None:
        after = changed(streak) if streak else None
        return None if after is None or account_attempts.is_empty(after) else after

    read = ReadRecord(FAILURE_STREAKS, stored.id, stored)
    try:
        await counting.change(service, read, change_or_delete)
    except (StorageError, Busy) as error:
        _log.warning("counts of attempts were not changed", error=str(error))
