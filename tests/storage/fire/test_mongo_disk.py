"""MongoDB on a full disk: the server may end, but what it acknowledged is there afterwards."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import time
from contextlib import contextmanager
from shutil import disk_usage

import pytest

from tests.storage.fire.callers import Callers
from tests.storage.fire.works import Account
from tests.storage.mongo_stores import make
from tests.storage.records import ALL
from tests.support.mongod import NoMongod, find_binary
from tests.support.replica_set import SET_NAME, Member, ReplicaSet
from tests.support.skips import skip

DISK_BYTES = 2 * 2**30
LEFT_BYTES = 8 * 2**20
TEXT = random.Random(1).randbytes(15_000).hex()  # what can't be compressed
WRITE_SECONDS = 40


def mounted(disk, size, *options):
    """Mount it, or give it another size; whether that was allowed."""
    options = ",".join([*options, f"size={size}"])
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]
    return subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture
def small_disk(tmp_path):
    """A directory on a disk of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.getuid() != 0 or not mounted(disk, DISK_BYTES):
        skip("a disk of its own takes the right to mount one")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture
def server(small_disk):
    try:
        member = Member(find_binary(), small_disk / "data", set_name=SET_NAME)
    except NoMongod as error:
        skip(error)
    alone = ReplicaSet([member])
    alone.start()
    yield alone
    alone.stop()


@contextmanager
def almost_full(disk):
    assert mounted(disk, disk_usage(disk).used + LEFT_BYTES, "remount")
    yield
    assert mounted(disk, DISK_BYTES, "remount")


@pytest.mark.deep
@pytest.mark.gen_test(timeout=90)
async def test_a_full_disk_loses_nothing_that_was_acknowledged(
    server, small_disk, record_property
):
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

    with almost_full(small_disk):
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
