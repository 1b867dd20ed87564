"""Counts attempts in the store, so that all processes share the counts: each change of a count is
one compare-and-set of one record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from msgspec import Struct, structs

from idp.foundation import logs
from idp.foundation.errors import Busy
from idp.limits import account_attempts, backoffs, compare_and_set, throttled
from idp.limits.account_attempts import CountedAttempt
from idp.limits.backoffs import BackoffLimit, Delayed
from idp.limits.compare_and_set import ReadRecord
from idp.records import (
    FAILURE_STREAKS,
    LOGIN_NAME_BACKOFFS,
    Backoff,
    FailureStreak,
    LoginNameBackoff,
)
from idp.service import Service
from storage import Record, StorageError

R = TypeVar("R", bound=Record)
D = TypeVar("D")
_log = logs.logger(__name__)

DecideAttempt = Callable[[FailureStreak], CountedAttempt | Delayed]
ChangeStreak = Callable[[FailureStreak], FailureStreak]


async def decide(
    service: Service, read: ReadRecord[R], decision: compare_and_set.Decide[R, D]
) -> tuple[R | None, D]:
    """Changes one record of counts as `compare_and_set.decide` does. Raises Busy, StorageError."""
    revision = service.random.token(bits=64)
    return await compare_and_set.decide(service.store, read, decision, revision)


async def change(
    service: Service, read: ReadRecord[R], changed: Callable[[R | None], R | None]
) -> R | None:
    """Changes one record of counts to what `changed` returns: the same one if nothing is to be
    changed, None to delete it. Returns what is stored. Raises Busy, StorageError."""
    record, _ = await decide(service, read, lambda stored: (changed(stored), None))
    return record


# Streaks of users


async def count(
    service: Service, user_id: str, stored: FailureStreak | None, decide_attempt: DecideAttempt
) -> CountedAttempt:
    """Counts an attempt in the user's streak as `decide_attempt` says, and returns the decision
    with the streak as it is stored then.

    `stored` is the streak as it was read, None if there was none. Raises Throttled; then nothing
    is counted. Raises Busy, StorageError.
    """

    def decision(streak: FailureStreak | None) -> tuple[FailureStreak, CountedAttempt]:
        attempt = decide_attempt(streak or FailureStreak(id=user_id))
        if isinstance(attempt, Delayed):
            raise throttled.delayed(attempt.until, service.clock.now())
        return attempt.streak, attempt

    streak, attempt = await decide(service, ReadRecord(FAILURE_STREAKS, user_id, stored), decision)
    return structs.replace(attempt, streak=streak)


async def change_streak(
    service: Service, stored: FailureStreak | None, changed: ChangeStreak
) -> None:
    """Changes a user's streak, unless there is none, and deletes it if nothing is counted any
    more.

    Errors are logged and ignored: a count that remains delays a user, and admits no one.
    """
    if stored is None:
        return

    def change_or_delete(streak: FailureStreak | None) -> FailureStreak | None:
        after = changed(streak) if streak else None
        return None if after is None or account_attempts.is_empty(after) else after

    try:
        await change(service, ReadRecord(FAILURE_STREAKS, stored.id, stored), change_or_delete)
    except (StorageError, Busy) as error:
        _log.warning("counts of attempts were not reset", error=str(error))


# Backoffs of login names


class Claim(Struct, frozen=True):
    """An attempt that was counted: `record` is what is stored, and `new_networks` are those of its
    networks from which the account had not been tried."""

    record: LoginNameBackoff
    new_networks: Sequence[str]


async def claim(
    service: Service,
    name: str,
    limit: BackoffLimit,
    stored: LoginNameBackoff | None,
    networks: Sequence[str] = (),
) -> Claim:
    """Counts an attempt, which comes from these networks.

    `stored` is the record of the backoff as it was read, None if there was none. Raises Throttled;
    then nothing is counted. Raises Busy, StorageError.
    """

    def decision(record: LoginNameBackoff | None) -> tuple[LoginNameBackoff, Claim]:
        now = service.clock.now()
        new_networks = backoffs.new_networks(record.backoff if record else None, networks, now)
        backoff = check(service, name, limit, record)
        claimed = _record(backoffs.with_networks(backoff, new_networks, now))
        return claimed, Claim(claimed, new_networks)

    record, claim = await decide(service, ReadRecord(LOGIN_NAME_BACKOFFS, name, stored), decision)
    return structs.replace(claim, record=record)


def check(
    service: Service, name: str, limit: BackoffLimit, stored: LoginNameBackoff | None
) -> Backoff:
    """Returns the backoff with another attempt counted, without storing it. Raises Throttled."""
    now = service.clock.now()
    backoff = backoffs.claimed(stored.backoff if stored else None, name, limit, now)
    if isinstance(backoff, Delayed):
        raise throttled.delayed(backoff.until, now)
    return backoff


async def take_back(
    service: Service, name: str, stored: LoginNameBackoff | None, networks: Sequence[str] = ()
) -> None:
    """Subtracts an attempt, which was right or was not compared, and the `networks` that it has
    added to the backoff. Errors are ignored."""

    def subtracted(record: LoginNameBackoff | None) -> LoginNameBackoff | None:
        if record is None:
            return None
        backoff = backoffs.without_networks(backoffs.taken_back(record.backoff), networks)
        return structs.replace(record, backoff=backoff)

    with suppress(StorageError, Busy):
        await change(service, ReadRecord(LOGIN_NAME_BACKOFFS, name, stored), subtracted)


async def forget(service: Service, *stored: LoginNameBackoff | None) -> None:
    """Deletes these backoffs after a success. Errors are logged and ignored."""
    for record in stored:
        if record is not None:
            try:
                await change(
                    service, ReadRecord(LOGIN_NAME_BACKOFFS, record.id, record), lambda _: None
                )
            except (StorageError, Busy) as error:
                _log.warning("counts of attempts were not reset", error=str(error))


async def write_without_effect(
    service: Service, name: str, stored: LoginNameBackoff | None
) -> None:
    """Writes as much as the count of an attempt does, and counts nothing: so the time does not
    reveal which names exist. Raises Busy, StorageError."""

    def unchanged(record: LoginNameBackoff | None) -> LoginNameBackoff:
        end = service.clock.now() + backoffs.WINDOW
        return _record(record.backoff if record else Backoff(name=name, tries=0, ends_at=end))

    await change(service, ReadRecord(LOGIN_NAME_BACKOFFS, name, stored), unchanged)


def _record(backoff: Backoff) -> LoginNameBackoff:
    return LoginNameBackoff(id=backoff.name, backoff=backoff, expires_at=backoff.ends_at)
