"""MongoDB on a full disk: the server may end, but what it acknowledged is there afterwards."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import contextmanager

import pytest

from tests.storage.fire.callers import Callers
from tests.storage.fire.works import Account
from tests.storage.mongo.mongo_stores import make
from tests.storage.records import ALL
from tests.support.programs.disks import small_disk
from tests.support.servers.mongod import NoMongod, find_binary
from tests.support.servers.replica_set import SET_NAME, Member, ReplicaSet
from tests.support.skips import skip

DISK_BYTES = 2 * 2**30
LEFT_BYTES = 8 * 2**20
TEXT = random.Random(1).randbytes(15_000).hex()  # what can't be compressed
WRITE_SECONDS = 40


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", DISK_BYTES) as made:
        yield made


@pytest.fixture
def server(disk):
    try:
        member = Member(find_binary(), disk.path / "data", set_name=SET_NAME)
    except NoMongod as error:
        skip(error)
    alone = ReplicaSet([member])
    alone.start()
    yield alone
    alone.stop()


@contextmanager
def almost_full(disk):
    disk.resize(disk.used + LEFT_BYTES)
    yield
    disk.resize(DISK_BYTES)


@pytest.mark.load
async def test_a_full_disk_loses_nothing_that_was_acknowledged(server, disk, record_property):
    account = Account(injected=1)
    url = server.url.replace("/?", "/full?")
    both = [
        Callers(make(f"{url}&driver={driver}"), driver, account, text=TEXT)
        for driver in ("pymongo", "motor")
    ]
    for callers in both:
        await callers.store.open(ALL)
        await callers.prepare()
    mongod = server.members[0]
    ends = time.monotonic() + WRITE_SECONDS

    def goes_on():
        return not account.unavailable + account.unknown and time.monotonic() < ends

    with almost_full(disk):
        writing = asyncio.gather(*(callers.write_while(goes_on) for callers in both))
        while goes_on():
            await asyncio.sleep(0.05)
        acknowledged = account.acknowledged
        has_ended = mongod.process.poll() is not None
    mongod.kill()
    await asyncio.to_thread(server.mend)
    await writing
    for callers in both:
        await callers.judge()
        await callers.store.close()
    record_property("counts", f"{account}, server {'ended' if has_ended else 'refused'}")

    assert account.faults == []
    assert acknowledged > 0
    assert account.unavailable + account.unknown > 0
    assert account.unknown == account.settled
