"""Rate limits on wrong tokens and secrets, by network.

Only failures are counted: in this process at once, and in the store by the next `flush`, whose sum
decides. So all processes have the same count a second later, and a guess beyond the limit causes
no write. Right tokens and secrets are accepted whatever the count: no one is locked out by a
stranger's guesses. A process that is killed loses the counts of its last second.
"""

from __future__ import annotations

import asyncio
import math
from typing import Final

from idp.foundation import metrics
from idp.foundation.network_keys import network_key
from idp.limits.refused_counts import WINDOW
from idp.service import Service
from storage import StorageError, Unavailable

EVERY_SECONDS: Final = 1.0
_AT_ONCE: Final = 500  # counters that are written concurrently


def refused_token(service: Service, address: str) -> int:
    """Counts a wrong token from the address's network.

    Returns after how many seconds to try again; 0 while the limit is not exceeded.
    """
    return _counted(service, "token", network_key(address))


def refused_client(service: Service, client_id: str | None, address: str) -> int:
    """Counts a failed client authentication; `client_id` is None if there is no such application.

    Returns after how many seconds to try again; 0 while the limit is not exceeded. All unknown
    client_ids of a network share one count, so that invented ones do not add counters.
    """
    client = service.master_key.mac("refused client", client_id).hex()[:32] if client_id else ""
    return _counted(service, "client", f"{client}:{network_key(address)}")


def _counted(service: Service, kind: str, key: str) -> int:
    now, limit = service.clock.now(), service.config.refused_credentials_limit
    count = service.refused.count(f"{kind}:{key}", now, limit)
    if count.sum <= limit:
        return 0
    metrics.THROTTLED.count(kind)
    return max(1, math.ceil((count.resets_at - now).total_seconds()))


async def flush(service: Service) -> None:
    """Adds what this process has counted since the last call to the sums in the store, with one
    write per key, and takes over the sums from there."""
    taken = service.refused.take(service.clock.now())
    for start in range(0, len(taken), _AT_ONCE):
        part = taken[start : start + _AT_ONCE]
        await asyncio.gather(*(_add(service, key, by) for key, by in part))


async def _add(service: Service, key: str, by: int) -> None:
    try:
        counter = await service.store.increment(f"refused:{key}", by, window=WINDOW)
    except Unavailable:  # nothing was written: the next flush repeats it
        service.refused.give_back(key, by)
    except StorageError:  # it may have been written: a lost count is better than a double one
        return
    else:
        service.refused.add_stored(key, counter.n, counter.resets_at)
