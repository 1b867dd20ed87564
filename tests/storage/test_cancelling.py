"""Whoever stops waiting withdraws nothing, and takes nobody with him."""

from __future__ import annotations

import asyncio
import random

import pytest

from storage import Insert, Update
from tests.storage.records import ENTRIES, USERS, Entry, user
from tests.support.patience import until

COMMITS = 60


def unit(n):
    """Of one write or two; the second would be missing if a cancelled unit were cut in half."""
    first = Insert(ENTRIES, Entry(id=f"e{n:02}"))
    return [first] if n % 3 else [first, Insert(USERS, user(f"u{n:02}"))]


@pytest.mark.parametrize("seed", range(4))
async def test_units_whose_callers_are_cancelled_at_any_moment_are_applied_whole(store, seed):
    chance = random.Random(seed)
    commits = [asyncio.ensure_future(store.commit(*unit(n))) for n in range(COMMITS)]
    cancelled = chance.sample(commits, COMMITS // 2)
    await asyncio.sleep(0)  # all are under way
    for commit in cancelled:
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(0)
        commit.cancel()
    kept = [commit for commit in commits if commit not in cancelled]
    assert await asyncio.gather(*kept) == [None] * len(kept)
    await asyncio.gather(*cancelled, return_exceptions=True)

    await eventually(store, ENTRIES, COMMITS)
    await eventually(store, USERS, COMMITS // 3)


async def eventually(store, collection, number):
    async def are_there():
        return await store.count(collection) >= number

    await until(are_there)


async def test_a_bulk_whose_caller_is_cancelled_harms_nobody(store):
    units = [unit(n) for n in range(COMMITS)]
    bulk = asyncio.ensure_future(store.commit_each(units))
    await asyncio.sleep(0)
    bulk.cancel()
    await store.commit(Insert(ENTRIES, Entry(id="after")))
    await asyncio.gather(bulk, return_exceptions=True)

    for n in range(0, COMMITS, 3):
        entry, person = await store.get_many([(ENTRIES, f"e{n:02}"), (USERS, f"u{n:02}")])
        assert (entry is None) == (person is None)


async def test_of_cancelled_conditional_updates_one_was_applied(store):
    await store.commit(Insert(USERS, user("a")))
    write = Update(USERS, "a", set={"note": "x"}, increment={"n": 1}, expect={"note": None})
    tries = [asyncio.ensure_future(store.commit(write)) for _ in range(20)]
    await asyncio.sleep(0)
    for each in tries[:19]:
        each.cancel()
    await asyncio.gather(*tries, return_exceptions=True)

    async def is_applied():
        return (await store.get(USERS, "a")).n

    await until(is_applied)
    assert (await store.get(USERS, "a")).n == 1
