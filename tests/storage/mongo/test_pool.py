"""The connections of MongoDB's driver, and how long commands wait for one."""

from __future__ import annotations

import asyncio
import uuid
from types import SimpleNamespace

import pytest

from storage import Unavailable, open_store
from storage.mongo import pool, read_queue
from storage.mongo.pool import PoolListener
from storage.mongo.read_queue import ReadQueue
from tests.storage.mongo.mongo_stores import DRIVERS
from tests.storage.observers import RecordingObserver
from tests.storage.records import USERS
from tests.support import patience
from tests.support.patience import until


def of(number, **more):
    return SimpleNamespace(address=("db1", 27017), connection_id=number, **more)


@pytest.fixture
def observer():
    return RecordingObserver()


@pytest.fixture
def reported(monkeypatch, observer):
    """Waits until the listener has reported."""
    monkeypatch.setattr(pool, "REPORT_SECONDS", 0)

    async def reported():
        before = len(observer.pools)
        async with asyncio.timeout(patience.SECONDS):
            await until(lambda: len(observer.pools) != before)
        return observer.pools[-1]

    return reported


async def test_connections_are_active_while_a_command_has_them(observer, reported):
    listener = PoolListener(observer)
    for number in (1, 2, 3):
        listener.connection_created(of(number))
    listener.connection_checked_out(of(1, duration=0.5))
    listener.connection_checked_out(of(2, duration=0.25))
    two_of_three = await reported()
    listener.connection_checked_in(of(1))
    listener.connection_closed(of(2))  # the answer was lost
    await asyncio.to_thread(listener.connection_check_out_failed, of(0, duration=2.0))
    none_of_two = await reported()

    assert (two_of_three, none_of_two) == ((2, 1), (0, 2))
    assert observer.waits == [("driver", 0.5), ("driver", 0.25), ("driver", 2.0)]


async def test_many_commands_are_reported_at_once(observer, reported):
    listener = PoolListener(observer)
    listener.connection_created(of(1))
    for _ in range(100):
        listener.connection_checked_out(of(1, duration=0.0))
        listener.connection_checked_in(of(1))
    await reported()

    assert observer.pools == [(0, 1)]
    assert len(observer.waits) == 100


@pytest.mark.parametrize("driver", DRIVERS)
async def test_a_store_reports_its_connections_and_waits(
    emptied_mongodb, clock, monkeypatch, observer, driver
):
    monkeypatch.setattr(pool, "REPORT_SECONDS", 0)

    url = f"{emptied_mongodb}{'&' if '?' in emptied_mongodb else '?'}driver={driver}"
    store = open_store(url, now=clock.now, new_id=lambda: uuid.uuid4().hex, observers=[observer])
    await store.open([USERS])
    await store.find(USERS)
    async with asyncio.timeout(patience.SECONDS):  # Motor's threads may have reported already
        await until(lambda: {queue for queue, _ in observer.waits} == {"reads", "driver"})
    await store.close()

    assert max(active + idle for active, idle in observer.pools) >= 1
    assert all(0 <= seconds < 10 for _, seconds in observer.waits)


async def test_a_read_that_gets_no_place_has_waited_all_the_same(observer, monkeypatch):
    monkeypatch.setattr(read_queue, "_MAX_READS", 1)
    monkeypatch.setattr(read_queue, "_QUEUE_SECONDS", 0.05)
    queue = ReadQueue(client=None)
    queue.observer = observer
    leaves = asyncio.Event()
    first = asyncio.create_task(queue.read(leaves.wait))
    await asyncio.sleep(0)  # it takes the place
    with pytest.raises(Unavailable):
        await queue.read(leaves.wait)
    leaves.set()
    await first

    (_, at_once), (_, in_vain) = observer.waits[:2]
    assert at_once < 0.05 <= in_vain
