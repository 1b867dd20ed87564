"""MongoDB: a replica set that loses its primary."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter

import pytest

from storage import Insert, Unavailable, Unknown, Update
from tests.storage.mongo_stores import make, timed
from tests.storage.records import ALL, ENTRIES, USERS, Entry, user
from tests.support.mongod import fresh_database

# Long enough for an election, so that a primary comes back that takes itself for the only one. A
# member that copies from one that never comes back finds another only after 13 s or more.
HANGS_SECONDS = 6


@pytest.fixture
def trio(mongod_trio):
    mongod_trio.mend()
    return mongod_trio


@pytest.mark.deep
@pytest.mark.gen_test(timeout=60)
@pytest.mark.parametrize("driver", ["pymongo", "motor"])
async def test_servers_that_hang_are_noticed_within_two_seconds(trio, driver):
    with fresh_database(trio.url) as url:
        store = make(f"{url}&driver={driver}")
        await store.open(ALL)
        for member in trio.members:
            member.pause()
        try:
            for _ in range(3):
                with timed(2.5), pytest.raises(Unavailable):
                    await store.ping()
        finally:
            await asyncio.to_thread(trio.mend)
        await store.ping()
        await store.close()


class Writers:
    """Eight callers that each count up a record of their own, every other one in transactions."""

    def __init__(self, store):
        self.store = store
        self.done = Counter()
        self.unknown = Counter()
        self.gaps = []

    async def write(self, n, ends):
        succeeded_at = time.monotonic()
        while time.monotonic() < ends:
            writes = [Update(USERS, f"u{n}", increment={"n": 1})]
            if n % 2:
                writes.append(Insert(ENTRIES, Entry(id=uuid.uuid4().hex)))
            try:
                await self.store.commit(*writes)
            except Unknown:
                self.unknown[n] += 1
            except Unavailable:
                await asyncio.sleep(0.1)
            else:
                self.done[n] += 1
                self.gaps.append(time.monotonic() - succeeded_at)
                succeeded_at = time.monotonic()


@pytest.mark.deep
@pytest.mark.gen_test(timeout=120)
@pytest.mark.parametrize("driver", ["pymongo", "motor"])
@pytest.mark.parametrize("fault", ["kill", "pause", "stop"])
async def test_no_acknowledged_write_is_lost_when_the_primary_goes(trio, fault, driver):
    with fresh_database(trio.url) as url:
        store = make(f"{url}&driver={driver}")
        await store.open(ALL)
        await store.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(8)])
        writers = Writers(store)
        ends = time.monotonic() + 12
        writing = asyncio.gather(*(writers.write(n, ends) for n in range(8)))
        await asyncio.sleep(2)
        primary = await asyncio.to_thread(trio.primary)
        await asyncio.to_thread(getattr(primary, fault))
        await asyncio.sleep(HANGS_SECONDS)
        primary.resume()
        await writing
        found = {int(record.id[1:]): record.n async for record in store.scan(USERS)}
        await store.close()

    for n in range(8):
        assert writers.done[n] <= found[n] <= writers.done[n] + writers.unknown[n]
    assert max(writers.gaps) < 10
