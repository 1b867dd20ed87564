"""Counts attempts by login name in the store (`LoginNameBackoff`), whether or not a user has it;
the policy is `idp.limits.backoffs`."""

from __future__ import annotations

from collections.abc import Callable

from idp.foundation import logs
from idp.foundation.errors import Busy
from idp.identity.guesses import counting
from idp.limits import backoffs, compare_and_set, throttled
from idp.limits.backoffs import BackoffLimit, Delayed
from idp.limits.compare_and_set import ReadRecord
from idp.records import LOGIN_NAME_BACKOFFS, Backoff, LoginNameBackoff
from idp.service import Service
from storage import StorageError, Write

_log = logs.logger(__name__)


async def count(
    service: Service,
    name: str,
    limit: BackoffLimit,
    stored: LoginNameBackoff | None,
    account: str = "",
) -> LoginNameBackoff:
    """Counts an attempt, and returns what is stored then. `account` (`account_names`) is the one
    that the login name finds.

    `stored` is the record of `name` as it was read, None if there was none. Raises Throttled,
    Busy, StorageError; then nothing is counted.
    """

    def decision(
        record: LoginNameBackoff | None,
    ) -> tuple[LoginNameBackoff, LoginNameBackoff]:
        backoff = with_attempt(service, name, limit, record)
        counted = _record(backoffs.with_account(backoff, account) if account else backoff)
        return counted, counted

    read = ReadRecord(LOGIN_NAME_BACKOFFS, name, stored)
    record, counted = await counting.decide(service, read, decision)
    return record or counted


def with_attempt(
    service: Service, name: str, limit: BackoffLimit, stored: LoginNameBackoff | None
) -> Backoff:
    """Returns the backoff with another attempt, and stores nothing. Raises Throttled."""
    now = service.clock.now()
    backoff = backoffs.claimed(stored.backoff if stored else None, name, limit, now)
    if isinstance(backoff, Delayed):
        raise throttled.delayed(backoff.until, now)
    return backoff


async def uncount(service: Service, stored: LoginNameBackoff, account: str = "") -> None:
    """Subtracts an attempt, which was right or was not compared. Errors are logged and ignored: a
    count that remains delays a user, and admits no one."""
    await _change(service, stored, lambda backoff: backoffs.taken_back(backoff, account))


async def succeeded(service: Service, stored: LoginNameBackoff, account: str) -> None:
    """Subtracts the attempts at this account, after one was right. Errors are logged and ignored,
    as in `uncount`."""
    await _change(service, stored, lambda backoff: backoffs.without_account(backoff, account))


def reset_write(service: Service, stored: LoginNameBackoff, account: str) -> Write:
    """Returns the write that does the same, for the caller to commit: it fails with Stale if the
    record has changed since it was read."""
    backoff = backoffs.without_account(stored.backoff, account)
    after = _record(backoff, service.random.token(bits=64)) if backoff else None
    return compare_and_set.write(LOGIN_NAME_BACKOFFS, stored, after)


async def _change(
    service: Service, stored: LoginNameBackoff, change: Callable[[Backoff], Backoff | None]
) -> None:
    def changed(record: LoginNameBackoff | None) -> LoginNameBackoff | None:
        backoff = change(record.backoff) if record else None
        if record is not None and backoff is record.backoff:
            return record
        return _record(backoff) if backoff else None

    read = ReadRecord(LOGIN_NAME_BACKOFFS, stored.id, stored)
    try:
        await counting.change(service, read, changed)
    except (StorageError, Busy) as error:
        _log.warning("counts of attempts were not changed", error=str(error))


async def write_decoy(service: Service, name: str, stored: LoginNameBackoff | None) -> None:
    """Writes as much as the count of an attempt does, and counts nothing: so the time does not
    reveal which names exist. Raises Busy, StorageError."""

    def unchanged(record: LoginNameBackoff | None) -> LoginNameBackoff:
        end = service.clock.now() + backoffs.WINDOW
        return _record(record.backoff if record else Backoff(name=name, tries=0, ends_at=end))

    await counting.change(service, ReadRecord(LOGIN_NAME_BACKOFFS, name, stored), unchanged)


def _record(backoff: Backoff, revision: str | None = None) -> LoginNameBackoff:
    return LoginNameBackoff(
        id=backoff.name, backoff=backoff, expires_at=backoff.ends_at, revision=revision
    )
