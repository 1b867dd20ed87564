"""MongoDB: readers that are cancelled or wait leave the driver's connections to the others."""

from __future__ import annotations

import asyncio
import random

import pytest

from storage import Insert, Unavailable
from storage.mongo import read_queue
from tests.storage.mongo.mongo_stores import opened
from tests.storage.records import USERS, user
from tests.support import patience

READERS = 200


@pytest.fixture
def store(io_loop, mongodb):
    """A store with few connections, whose URL has a limit for those who wait for one."""
    store = opened(io_loop, f"{mongodb}&maxPoolSize=4&waitQueueTimeoutMS=20")
    yield store
    io_loop.run_sync(store.close)


async def test_the_driver_has_no_limit_for_those_who_wait(store):
    """A reader that is cancelled just after that limit would lock the driver's pool for ever."""
    options = store._open.driver.client.options.pool_options

    assert (options.max_pool_size, options.wait_queue_timeout) == (4, None)


async def test_readers_that_are_cancelled_while_they_wait_block_nobody(store):
    chance = random.Random(1)
    await store.commit(Insert(USERS, user("a")))
    for _ in range(3):
        readers = [asyncio.ensure_future(store.find(USERS, {"n": 1})) for _ in range(READERS)]
        await asyncio.sleep(chance.random() / 20)
        for _ in range(3):
            for reader in chance.sample(readers, READERS * 2 // 3):
                reader.cancel()
            for _ in range(chance.randrange(6)):
                await asyncio.sleep(0)
        async with asyncio.timeout(patience.SECONDS):
            await asyncio.wait(readers)
            assert (await store.find(USERS, {})).records


async def test_a_reader_who_would_wait_for_too_long_is_refused(store, monkeypatch):
    monkeypatch.setattr(read_queue, "_QUEUE_SECONDS", 0.05)
    free = asyncio.Event()
    reading = store._open.driver.reads.read
    held = [asyncio.ensure_future(reading(free.wait)) for _ in range(3)]
    await asyncio.sleep(0)

    with pytest.raises(Unavailable):
        await store.find(USERS, {})
    free.set()
    await asyncio.gather(*held)

    assert (await store.find(USERS, {})).records == []
