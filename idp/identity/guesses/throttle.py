"""Limits the rate of tries at one secret: some at once, then one in each delay, which grows.

A try is counted before it is compared, so that concurrent tries are limited as sequential ones
are. The counts are in the store, so that all processes share them. Only a try that was counted is
compared; a refused one has changed nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from idp.foundation import logs
from idp.foundation.errors import Busy
from idp.identity.users.lookup import login_key
from idp.records import User
from idp.service import Service
from storage import COUNTERS, Delete, Key, Stale, StorageError, Update
from storage.base import CounterRecord

WINDOW: Final = timedelta(hours=24)
_LONGEST_EXPONENT: Final = 16
_log = logs.logger(__name__)

Cause: TypeAlias = Literal["paced", "network"]


class Throttled(Busy):
    """Too many tries; `retry_after_seconds` says when the next one is admitted, and `cause` names
    the limit."""

    error_code = "sign_in.throttled"

    def __init__(self, message: str, *, retry_after_seconds: int, cause: Cause = "paced") -> None:
        super().__init__(message, retry_after_seconds=retry_after_seconds)
        self.cause = cause


def account_of(user: User | None, typed: str) -> str:
    """Returns what tries are counted for: the user, by any of their login names, else the typed
    name."""
    return f"user:{user.id}" if user else f"name:{login_key(typed.strip())}"


def hidden(service: Service, account: str) -> str:
    """Returns the account as counters name it: a MAC of fixed length, from which no name can be
    read."""
    return service.master_key.mac("throttle", account).hex()[:32]


def keys(service: Service, account: str) -> list[Key]:
    """Returns the keys of an account's counters: its tries since the last success, and its
    gate."""
    name = hidden(service, account)
    return [(COUNTERS, f"pace:{name}"), (COUNTERS, f"gate:{name}")]


def check(
    service: Service,
    found: Sequence[CounterRecord | None],
    *,
    free: int | None = None,
) -> int:
    """Returns how many tries were counted before, from the records of `keys`.

    `free` tries are admitted at once, by default `sign_in_failures_before_delay`. Raises Throttled
    while the gate is closed.
    """
    tries, gate = found
    before = tries.n if tries else 0
    if gate is not None and before >= _free(service, free):
        raise closed_until(service, gate.expires_at)
    return before


async def claim(
    service: Service,
    account: str,
    before: int,
    *,
    free: int | None = None,
    delay: timedelta | None = None,
) -> int:
    """Counts a try, which has to pass the gate if there were too many, and returns its number.

    Exactly one try passes in each delay, which doubles with each try unless it is given. Raises
    Throttled; the try is then not counted.
    """
    (_, pace), (_, gate) = keys(service, account)
    free = _free(service, free)
    counter = await service.store.increment(pace, window=WINDOW)
    if counter.n <= free:
        return counter.n
    window = delay or _delay(service, before + 1 - free)
    passing = await service.store.increment(gate, window=window)
    if passing.n > 1:
        await _take_back(service, pace, counter.resets_at)
        raise closed_until(service, passing.resets_at)
    return counter.n


async def admit(service: Service, account: str, *, free: int | None = None) -> int:
    """Checks and counts a try, and returns its number. Raises Throttled."""
    before = check(service, await service.store.get_many(keys(service, account)), free=free)
    return await claim(service, account, before, free=free)


async def take_back(service: Service, account: str) -> None:
    """Uncounts one try, which was right or was not compared; best effort. Earlier ones remain
    counted."""
    _, pace = keys(service, account)[0]
    await uncount(service, pace)


async def uncount(service: Service, key: str) -> None:
    """Subtracts one try from a counter in its present window; best effort."""
    with suppress(StorageError):
        record = await service.store.get(COUNTERS, key)
        if record is not None and record.n > 0:
            await _take_back(service, key, record.expires_at)


async def forget(service: Service, *accounts: str) -> None:
    """Deletes the counters of accounts after a success; best effort."""
    found = [key for account in accounts for key in keys(service, account)]
    with suppress(StorageError):
        records = await service.store.get_many(found)
        await delete(service, [key for key, one in zip(found, records, strict=True) if one])


async def delete(service: Service, found: Iterable[Key]) -> None:
    """Deletes counters, best effort: one that remains delays a user, and admits nobody."""
    try:
        for collection, id in found:
            await service.store.commit(Delete(collection, id))
    except StorageError as error:
        _log.warning("counters of tries were not deleted", error=str(error))


def closed_until(service: Service, at: datetime, cause: Cause = "paced") -> Throttled:
    """Returns the refusal of a try that may be repeated at this instant."""
    left = at - service.clock.now()
    seconds = max(1, math.ceil(left.total_seconds()))
    return Throttled("too many tries", retry_after_seconds=seconds, cause=cause)


def _free(service: Service, free: int | None) -> int:
    return service.config.sign_in_failures_before_delay if free is None else free


def _delay(service: Service, excess: int) -> timedelta:
    exponent = min(max(excess, 1), _LONGEST_EXPONENT)
    return timedelta(seconds=min(2**exponent, service.config.sign_in_delay_max_seconds))


async def _take_back(service: Service, key: str, window_ends_at: datetime) -> None:
    """Uncounts a try in its own window; a window that began since counts other tries."""
    uncounted = Update(COUNTERS, key, increment={"n": -1}, expect={"expires_at": window_ends_at})
    with suppress(Stale):
        await service.store.commit(uncounted)
