"""Rate limits on wrong tokens and secrets, by network, and for IPv6 by /48 as well.

Only failures are counted: in this process immediately, and in the store by the next `flush`, whose
sum decides. So all processes have the same count a second later, and a guess beyond the limit
causes no write. Valid tokens and secrets are accepted regardless of the count, so that guesses of
others lock no client out. A process that is killed loses the counts of its last second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from idp.foundation import metrics
from idp.limits.origin import AttemptOrigin
from idp.limits.refused_counts import WINDOW
from idp.limits.throttled import seconds_until
from idp.service import Service
from storage import StorageError, Unavailable

EVERY_SECONDS: Final = 1.0
_BATCH_SIZE: Final = 500  # counters that are written concurrently


def refused_token(service: Service, address: str) -> int:
    """Counts a wrong token from the address's network.

    Returns after how many seconds to try again; 0 while the limit is not exceeded.
    """
    return _count(service, "token", "token:", address)


def refused_client(service: Service, client_id: str | None, address: str) -> int:
    """Counts a failed client authentication; `client_id` is None if there is no such application.

    Returns after how many seconds to try again; 0 while the limit is not exceeded. All unknown
    client_ids of a network share one count, so that invented ones do not add counters.
    """
    client = service.master_key.mac("refused client", client_id).hex()[:32] if client_id else ""
    return _count(service, "client", f"client:{client}:", address)


def _count(service: Service, kind: str, prefix: str, address: str) -> int:
    """Counts a guess under this prefix for the network, and for the /48 of an IPv6 address.

    One that is past a limit already is not counted, or a client with 65,536 networks could cause a
    write for each of them.
    """
    limits = _limits(service, prefix, address)
    seconds = _seconds_past(service, limits)
    if not seconds:
        now = service.clock.now()
        for key, limit in limits:
            service.refused.count(key, now, limit)
        seconds = _seconds_past(service, limits)
    if seconds:
        metrics.THROTTLED.count(kind)
    return seconds


def _limits(service: Service, prefix: str, address: str) -> list[tuple[str, int]]:
    """The keys of counts, each with its limit."""
    limits = AttemptOrigin(address).limits(service.config.refused_credentials_limit)
    return [(prefix + key, limit) for key, limit in limits]


def _seconds_past(service: Service, limits: Sequence[tuple[str, int]]) -> int:
    """Returns the number of seconds until none of these limits is exceeded; 0 if none is."""
    now, seconds = service.clock.now(), 0
    for key, limit in limits:
        count = service.refused.find(key, now)
        if count is not None and count.sum > limit:
            seconds = max(seconds, seconds_until(count.resets_at, now))
    return seconds


async def flush(service: Service) -> None:
    """Adds what this process has counted since the last call to the sums in the store, with one
    write per key, and takes over the sums from there."""
    changed_counts = service.refused.take(service.clock.now())
    for start in range(0, len(changed_counts), _BATCH_SIZE):
        batch = changed_counts[start : start + _BATCH_SIZE]
        await asyncio.gather(*(_add(service, key, increment) for key, increment in batch))


async def _add(service: Service, key: str, increment: int) -> None:
    try:
        counter = await service.store.increment(f"refused:{key}", increment, window=WINDOW)
    except Unavailable:  # nothing was written: the next flush repeats it
        service.refused.give_back(key, increment)
    except StorageError:  # it may have been written: a lost count is better than a double one
        return
    else:
        service.refused.add_stored(key, counter.n, counter.resets_at)
