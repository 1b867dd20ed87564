"""Limits the rate of attempts at one secret: some without delay, then one in each delay, which
grows.

An attempt is counted before it is compared, so that concurrent attempts are limited as sequential
ones are. The counts are in the store, so that all processes share them. Only an attempt that was
counted is compared; a refused one has changed nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from idp.foundation import logs, metrics
from idp.foundation.errors import Busy
from idp.identity.users.lookup import typed_key
from idp.records import User
from idp.service import Service
from storage import COUNTERS, Delete, Key, Stale, StorageError, Update
from storage.base import CounterRecord

WINDOW: Final = timedelta(hours=24)
LOGIN_NAMES: Final = 3  # of one user at most (`users.lookup`)
_MAX_EXPONENT: Final = 16
_log = logs.logger(__name__)

Cause: TypeAlias = Literal["paced", "network"]


class Throttled(Busy):
    """Too many attempts; `retry_after_seconds` says when the next one is admitted, and `cause`
    names the limit."""

    error_code = "sign_in.throttled"

    def __init__(self, message: str, *, retry_after_seconds: int, cause: Cause = "paced") -> None:
        super().__init__(message, retry_after_seconds=retry_after_seconds)
        self.cause = cause
        metrics.THROTTLED.count("network" if cause == "network" else "account")


def account_of(user: User | None, typed: str) -> str:
    """Returns the name for which attempts are counted: one for the user, whichever login name was
    typed; without a user (None) one for the login name `typed`."""
    return f"user:{user.id}" if user else login_name(typed)


def login_name(typed: str) -> str:
    """Returns the name for which the rate of attempts at the password of the login name `typed` is
    limited, whether or not a user has it.

    Each login name of a user has its own rate: a shared one would tell which names exist.
    """
    return f"name:{typed_key(typed).removesuffix('.')}"  # a domain's final dot names the root


def hidden(service: Service, account: str) -> str:
    """Returns the name of `account` in counters: a MAC of fixed length, from which it cannot be
    read."""
    return service.master_key.mac("throttle", account).hex()[:32]


def keys(service: Service, account: str) -> list[Key]:
    """Returns the keys of an account's two counters: its attempts since the last success, and the
    delay that runs.

    `account` names what attempts are counted for: it comes from `account_of` or `login_name`, or
    is a name such as `new-factor:<user id>`.
    """
    name = hidden(service, account)
    return [(COUNTERS, f"pace:{name}"), (COUNTERS, f"gate:{name}")]


def check(
    service: Service,
    counters: Sequence[CounterRecord | None],
    *,
    free: int | None = None,
) -> int:
    """Returns how many attempts were counted since the last success, without counting another one.

    `counters` are what the store has for `keys`. `free` attempts are admitted without delay, by
    default `sign_in_failures_before_delay`. Raises Throttled while the delay after them lasts.
    """
    attempts, delay = counters
    before = attempts.n if attempts else 0
    if delay is not None and before >= _free(service, free):
        raise delayed_until(service, delay.expires_at)
    return before


async def claim(
    service: Service,
    account: str,
    before: int,
    *,
    free: int | None = None,
    delay: timedelta | None = None,
) -> int:
    """Counts an attempt at `account` (see `keys`) and returns its number since the last success;
    `before` is the number that `check` returned.

    Beyond `free` attempts, exactly one is admitted in each delay, which doubles with each attempt
    unless `delay` is given. Raises Throttled; the attempt is then not counted.
    """
    (_, attempts_key), (_, delay_key) = keys(service, account)
    free = _free(service, free)
    counter = await service.store.increment(attempts_key, window=WINDOW)
    if counter.n <= free:
        return counter.n
    window = delay or _delay(service, before + 1 - free)
    delay_counter = await service.store.increment(delay_key, window=window)
    if delay_counter.n > 1:
        await _take_back(service, attempts_key, counter.resets_at)
        raise delayed_until(service, delay_counter.resets_at)
    return counter.n


async def admit(service: Service, account: str, *, free: int | None = None) -> int:
    """Calls `check` and `claim` for an attempt at `account` (see `keys`), and returns its number
    since the last success.

    Raises Throttled; the attempt is then not counted.
    """
    before = check(service, await service.store.get_many(keys(service, account)), free=free)
    return await claim(service, account, before, free=free)


async def take_back(service: Service, account: str) -> None:
    """Subtracts one attempt from the count of `account`, because it was right or was not compared;
    earlier attempts remain counted.

    `account` is the name that was passed to `claim` or `admit`. Errors of the store are ignored.
    """
    _, attempts_key = keys(service, account)[0]
    await uncount(service, attempts_key)


async def uncount(service: Service, key: str) -> None:
    """Subtracts one attempt from the counter with the id `key`, unless it has reached 0 or
    expired.

    Errors of the store are ignored.
    """
    with suppress(StorageError):
        record = await service.store.get(COUNTERS, key)
        if record is not None and record.n > 0:
            await _take_back(service, key, record.expires_at)


async def forget(service: Service, *accounts: str) -> None:
    """Deletes the counters of these accounts (see `keys`) after a success; errors of the store are
    ignored."""
    counter_keys = [key for account in accounts for key in keys(service, account)]
    with suppress(StorageError):
        records = await service.store.get_many(counter_keys)
        await delete(
            service, [key for key, record in zip(counter_keys, records, strict=True) if record]
        )


async def delete(service: Service, counter_keys: Iterable[Key]) -> None:
    """Deletes the counters with these keys.

    Errors of the store are logged and ignored: a counter that remains delays a user, and admits no
    one.
    """
    try:
        for collection, counter_key in counter_keys:
            await service.store.commit(Delete(collection, counter_key))
    except StorageError as error:
        _log.warning("counters of attempts were not deleted", error=str(error))


def delayed_until(service: Service, at: datetime, cause: Cause = "paced") -> Throttled:
    """Returns the refusal of an attempt that may be repeated at the instant `at`."""
    remaining = at - service.clock.now()
    seconds = max(1, math.ceil(remaining.total_seconds()))
    return Throttled("too many attempts", retry_after_seconds=seconds, cause=cause)


def _free(service: Service, free: int | None) -> int:
    return service.config.sign_in_failures_before_delay if free is None else free


def _delay(service: Service, excess: int) -> timedelta:
    exponent = min(max(excess, 1), _MAX_EXPONENT)
    return timedelta(seconds=min(2**exponent, service.config.sign_in_delay_max_seconds))


async def _take_back(service: Service, key: str, window_ends_at: datetime) -> None:
    """Uncounts an attempt in its own window; a window that began since counts other attempts."""
    uncounted = Update(COUNTERS, key, increment={"n": -1}, expect={"expires_at": window_ends_at})
    with suppress(Stale):
        await service.store.commit(uncounted)
