"""What several processes try at once; each tells how often it succeeded."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from storage import Conflict, Insert, Stale, Store, Update
from tests.storage.records import ENTRIES, USERS, Entry, user

WRITERS = 16


async def claim(store: Store, id: str) -> int:
    """16 conditional updates of one record: how many were applied."""
    write = Update(USERS, id, set={"note": "claimed"}, expect={"note": None})
    return await _applied(store.commit(write) for _ in range(WRITERS))


async def register(store: Store, login_key: str, who: str) -> int:
    """16 users with one login key, each in a unit with another record."""
    return await _applied(
        store.commit(
            Insert(ENTRIES, Entry(id=f"{login_key}-{who}-{n}")),
            Insert(USERS, user(f"{login_key}-{who}-{n}", login_key=login_key)),
        )
        for n in range(WRITERS)
    )


async def add(store: Store, id: str, times: str) -> int:
    """Unconditional increments, none of which may be lost."""
    write = Update(USERS, id, increment={"n": 1})
    return await _applied(store.commit(write) for _ in range(int(times)))


async def tally(store: Store, key: str, times: str) -> int:
    window = timedelta(hours=1)
    return await _applied(store.increment(key, window=window) for _ in range(int(times)))


async def _applied(attempts) -> int:
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    unexpected = [o for o in outcomes if isinstance(o, Exception) and not _is_loss(o)]
    if unexpected:
        raise unexpected[0]
    return sum(not isinstance(outcome, Exception) for outcome in outcomes)


def _is_loss(outcome: Exception) -> bool:
    return isinstance(outcome, Stale | Conflict)


CONTESTS = {"claim": claim, "register": register, "add": add, "tally": tally}
