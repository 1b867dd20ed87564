"""The pace of guesses at one secret: some at once, then one in each delay, which grows.

A try is counted before anything is compared, so that tries made at the same moment cost what they
would one after another. The counts are in the store, so that all processes share them. Whoever
holds a claim compares; who is refused has changed nothing.
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
    """Too many tries; `retry_after_seconds` says when the next one is looked at, and `cause` which
    limit it was."""

    slug = "sign_in.throttled"

    def __init__(self, message: str, *, retry_after_seconds: int, cause: Cause = "paced") -> None:
        super().__init__(message, retry_after_seconds=retry_after_seconds)
        self.cause = cause


def account_of(user: User | None, typed: str) -> str:
    """What tries are counted for: the user, whichever name was typed, else the name."""
    return f"user:{user.id}" if user else f"name:{login_key(typed.strip())}"


def hidden(service: Service, account: str) -> str:
    """The account as counters name it: of fixed length, and nothing to be read."""
    return service.vault.mac("throttle", account).hex()[:32]


def keys(service: Service, account: str) -> list[Key]:
    """The counters of an account's pace: its tries since the last success, and its gate."""
    name = hidden(service, account)
    return [(COUNTERS, f"pace:{name}"), (COUNTERS, f"gate:{name}")]


def check(
    service: Service,
    found: Sequence[CounterRecord | None],
    *,
    free: int | None = None,
) -> int:
    """How many tries were counted before, by the counters that `keys` names.

    `free` is how many are let in at once, without it `sign_in_failures_before_delay`. Raises
    Throttled while the gate is closed.
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
    """Count a try, and pass the gate if there were too many; the try's ordinal.

    Exactly one try passes in each delay, which doubles with each try unless it is given. Raises
    Throttled, and then the try does not count.
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
    """Let a try be looked at; its ordinal. Raises Throttled."""
    before = check(service, await service.store.get_many(keys(service, account)), free=free)
    return await claim(service, account, before, free=free)


async def take_back(service: Service, account: str) -> None:
    """Uncount one try, which was right or was not looked at; best effort. Those before it go on
    counting."""
    _, pace = keys(service, account)[0]
    await uncount(service, pace)


async def uncount(service: Service, key: str) -> None:
    """Take one try off a counter, in its present window; best effort."""
    with suppress(StorageError):
        record = await service.store.get(COUNTERS, key)
        if record is not None and record.n > 0:
            await _take_back(service, key, record.expires_at)


async def forget(service: Service, *accounts: str) -> None:
    """Forget the tries of accounts after a success, where there are any; best effort."""
    found = [key for account in accounts for key in keys(service, account)]
    with suppress(StorageError):
        records = await service.store.get_many(found)
        await delete(service, [key for key, one in zip(found, records, strict=True) if one])


async def delete(service: Service, found: Iterable[Key]) -> None:
    """Delete counters, best effort: what is left makes somebody wait who need not."""
    try:
        for collection, id in found:
            await service.store.commit(Delete(collection, id))
    except StorageError as error:
        _log.warning("counters of tries were not deleted", error=str(error))


def closed_until(service: Service, at: datetime, cause: Cause = "paced") -> Throttled:
    """The refusal of a try that may be repeated at an instant."""
    left = at - service.clock.now()
    seconds = max(1, math.ceil(left.total_seconds()))
    return Throttled("too many tries", retry_after_seconds=seconds, cause=cause)


def _free(service: Service, free: int | None) -> int:
    return service.config.sign_in_failures_before_delay if free is None else free


def _delay(service: Service, excess: int) -> timedelta:
    exponent = min(max(excess, 1), _LONGEST_EXPONENT)
    return timedelta(seconds=min(2**exponent, service.config.sign_in_delay_max_seconds))


async def _take_back(service: Service, key: str, window_ends_at: datetime) -> None:
    """Uncount a try in its own window: one that began since has other tries."""
    uncounted = Update(COUNTERS, key, increment={"n": -1}, expect={"expires_at": window_ends_at})
    with suppress(Stale):
        await service.store.commit(uncounted)
