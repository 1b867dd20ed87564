"""MongoDB: a replica set that loses its primary while both drivers write."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from datetime import timedelta

import pytest

from storage import COUNTERS, Insert, Unavailable, Unknown, Update
from tests.storage.fire.works import Account
from tests.storage.mongo_stores import make, timed
from tests.storage.records import ALL, ENTRIES, USERS, Entry, user
from tests.support.mongod import fresh_database

BOTH = ["pymongo", "motor"]
WRITERS = 8
HOUR = timedelta(hours=1)

# Long enough for an election, so that a primary comes back that takes itself for the only one. A
# member that copies from one that never comes back finds another only after 13 s or more.
HANGS_SECONDS = 6


@pytest.fixture
def trio(mongod_trio):
    mongod_trio.mend()
    return mongod_trio


@pytest.mark.deep
@pytest.mark.gen_test(timeout=60)
async def test_servers_that_hang_are_noticed_within_two_seconds(trio):
    with fresh_database(trio.url) as url:
        stores = [make(f"{url}&driver={driver}") for driver in BOTH]
        for store in stores:
            await store.open(ALL)
        for member in trio.members:
            member.pause()
        try:
            for _ in range(3):
                with timed(2.5):
                    pings = [store.ping() for store in stores]
                    answers = await asyncio.gather(*pings, return_exceptions=True)
                assert [type(answer) for answer in answers] == [Unavailable] * 2
        finally:
            await asyncio.to_thread(trio.mend)
        for store in stores:
            await store.ping()
            await store.close()


class Writers:
    """Callers that write on records of their own, each in its way, until the time is over.

    Whoever is told that an outcome is not known asks for it, so in the end each knows exactly
    what is stored.
    """

    def __init__(self, store, name, account):
        self.store = store
        self.name = name
        self.account = account
        self.applied = Counter()
        self.entries = set()
        self.gaps = []

    def id(self, n):
        return f"{self.name}.{n}"

    async def prepare(self):
        units = [[Insert(USERS, user(self.id(n)))] for n in range(WRITERS)]
        assert not any(await self.store.commit_each(units))

    async def write(self, n, ends):
        ways = (self._alone, self._together, self._each, self._counted)
        succeeded_at = time.monotonic()
        while time.monotonic() < ends:
            if await ways[n % len(ways)](self.id(n)):
                self.gaps.append(time.monotonic() - succeeded_at)
                succeeded_at = time.monotonic()
            else:
                await asyncio.sleep(0.1)

    async def _alone(self, id):
        outcome = await self._told(self.store.commit(self._update(id)))
        return await self._note(id, None, outcome)

    async def _together(self, id):
        entry = self._entry()
        outcome = await self._told(self.store.commit(self._update(id), entry))
        return await self._note(id, entry.id, outcome)

    async def _each(self, id):
        entries = [self._entry() for _ in range(4)]
        units = [[self._update(id)], *([entry] for entry in entries)]
        first, *others = await self.store.commit_each(units)
        for entry, outcome in zip(entries, others, strict=True):
            await self._note(None, entry.id, outcome)
        return await self._note(id, None, first)

    async def _counted(self, id):
        outcome = await self._told(self.store.increment(id, window=HOUR))
        return await self._note(id, None, outcome)

    async def _told(self, attempt):
        try:
            await attempt
        except (Unavailable, Unknown) as error:
            return error
        return None

    async def _note(self, id, entry, outcome):
        """Remember what must be there; whether the store acknowledged it."""
        is_applied = await self.account.expected(self.store, id or entry, outcome)
        if is_applied and id:
            self.applied[id] += 1
        if is_applied and entry:
            self.entries.add(entry)
        return outcome is None

    def _update(self, id):
        return Update(USERS, id, increment={"n": 1}, expect={"is_active": True})

    def _entry(self):
        return Insert(ENTRIES, Entry(id=f"{self.name}.{uuid.uuid4().hex}"))

    async def judge(self):
        for id in map(self.id, range(WRITERS)):
            there, counter = await self.store.get_many([(USERS, id), (COUNTERS, id)])
            self.account.compare(id, self.applied[id], there.n + (counter.n if counter else 0))
        found = {each.id async for each in self.store.scan(ENTRIES)}
        found = {id for id in found if id.startswith(f"{self.name}.")}
        self.account.lost.extend(self.entries - found)
        self.account.double.extend(found - self.entries)


async def step_down_twice(trio, primary):
    await asyncio.to_thread(primary.step_down)
    await asyncio.sleep(2)
    again = await asyncio.to_thread(trio.primary)
    await asyncio.to_thread(again.step_down)


async def hang(trio, primary):
    primary.pause()
    await asyncio.sleep(HANGS_SECONDS)
    primary.resume()


async def kill(trio, primary):
    await asyncio.to_thread(primary.kill)


async def stop(trio, primary):
    await asyncio.to_thread(primary.stop)


FAULTS = {kill: 1, hang: 1, stop: 1, step_down_twice: 2}


@pytest.mark.deep
@pytest.mark.gen_test(timeout=120)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_no_write_is_lost_or_double_when_the_primary_goes(trio, fault, record_property):
    account = Account(injected=FAULTS[fault])
    with fresh_database(trio.url) as url:
        both = [Writers(make(f"{url}&driver={driver}"), driver, account) for driver in BOTH]
        for writers in both:
            await writers.store.open(ALL)
            await writers.prepare()
        ends = time.monotonic() + 2 + HANGS_SECONDS
        writing = [writers.write(n, ends) for writers in both for n in range(WRITERS)]
        writing = asyncio.gather(*writing)
        await asyncio.sleep(1)
        await fault(trio, await asyncio.to_thread(trio.primary))
        await writing
        for writers in both:
            await writers.judge()
            await writers.store.close()
    gap = max(gap for writers in both for gap in writers.gaps)
    record_property("counts", f"{account}, longest gap {gap:.1f} s")

    assert account.faults == []
    assert account.unknown == account.settled
    assert gap < 10
