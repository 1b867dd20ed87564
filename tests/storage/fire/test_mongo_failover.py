"""MongoDB: a replica set that loses its primary while both drivers write."""

from __future__ import annotations

import asyncio
import time

import pytest

from storage import Unavailable
from tests.storage.fire.callers import Callers
from tests.storage.fire.works import Account
from tests.storage.mongo.mongo_stores import make, timed
from tests.storage.observers import RecordingObserver
from tests.storage.records import ALL
from tests.support.servers.mongod import fresh_database

BOTH = ["pymongo", "motor"]

# Long enough for an election, so that a primary comes back that takes itself for the only one. A
# member that copies from one that never comes back finds another only after 13 s or more.
HANGS_SECONDS = 6
LONGEST_GAP_SECONDS = 10


@pytest.fixture
def trio(mongod_trio):
    mongod_trio.mend()
    return mongod_trio


@pytest.mark.load
async def test_servers_that_hang_are_noticed_within_two_seconds(trio):
    with fresh_database(trio.url) as url:
        stores = [make(f"{url}&driver={driver}") for driver in BOTH]
        for store in stores:
            await store.open(ALL)
        for member in trio.members:
            member.pause()
        try:
            for _ in range(3):
                with timed(4):
                    pings = [store.ping() for store in stores]
                    answers = await asyncio.gather(*pings, return_exceptions=True)
                assert [type(answer) for answer in answers] == [Unavailable] * 2
            await asyncio.to_thread(trio.mend)
            for store in stores:
                await store.ping()
        finally:
            await asyncio.to_thread(trio.mend)
            for store in stores:
                await store.close()


@pytest.mark.load
@pytest.mark.parametrize("driver", BOTH)
async def test_another_primary_is_reported_and_all_members_answer_again(trio, driver):
    observer = RecordingObserver()
    with fresh_database(trio.url) as url:
        store = make(f"{url}&driver={driver}")
        store.observer = observer
        await store.open(ALL)
        whole = await store.server_state()
        before = await asyncio.to_thread(trio.primary)
        await asyncio.to_thread(before.step_down)
        async with asyncio.timeout(30):
            while not observer.primaries:
                await asyncio.sleep(0.1)
        after = await asyncio.to_thread(trio.primary)
        await store.close()

    assert (whole.members, whole.reachable) == (3, 3)
    assert observer.primaries == [after.address]
    assert after.address != before.address


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


@pytest.mark.load
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_no_write_is_lost_or_double_when_the_primary_goes(trio, fault, record_property):
    account = Account(injected=FAULTS[fault])
    with fresh_database(trio.url) as url:
        both = [Callers(make(f"{url}&driver={driver}"), driver, account) for driver in BOTH]
        for callers in both:
            await callers.store.open(ALL)
            await callers.prepare()
        term, is_over = trio.term(), asyncio.Event()
        writing = asyncio.gather(
            *(callers.write_while(lambda: not is_over.is_set()) for callers in both)
        )
        await answered(both)
        await fault(trio, await asyncio.to_thread(trio.primary))
        await answered(both)
        is_over.set()
        await writing
        elections = await asyncio.to_thread(trio.term) - term
        for callers in both:
            await callers.judge()
            await callers.store.close()
    gaps = [callers.longest_gap for callers in both]
    told = " and ".join(f"{gap:.1f} s" for gap in gaps)
    record_property("counts", f"{account}, {elections} elections, longest gaps {told}")

    assert account.faults == []
    assert account.unknown == account.settled
    assert elections >= account.injected
    assert max(gaps) < LONGEST_GAP_SECONDS


async def answered(both):
    """A second or longer: until every caller has begun a write in it, and was answered."""
    now = time.monotonic()
    await asyncio.sleep(1)
    async with asyncio.timeout(2 * LONGEST_GAP_SECONDS):
        while not all(callers.is_answered_since(now) for callers in both):
            await asyncio.sleep(0.05)
