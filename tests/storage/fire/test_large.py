"""A hundred thousand records are read in little memory, while the loop goes on turning."""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from contextlib import contextmanager

import pytest

from storage import Delete, Insert
from tests.storage.records import USERS, user
from tests.support.stalls import watched

RECORDS = 100_000
AT_ONCE = 5_000
RUNS = 3
LONGEST_STALL_SECONDS = 0.05
MOST_MEMORY_BYTES = 12 * 2**20  # all of them together take ten times as much


async def fill(store):
    for start in range(0, RECORDS, AT_ONCE):
        people = [user(f"u{n:06}", n=n) for n in range(start, start + AT_ONCE)]
        assert set(await store.commit_each([[Insert(USERS, one)] for one in people])) == {None}


async def met(view, where=None):
    """How many a scan meets, each once and in their order."""
    number, last = 0, ""
    async for record in view.scan(USERS, where):
        assert record.id > last
        number, last = number + 1, record.id
    return number


async def met_in_a_snapshot(store):
    """While others write what it must not meet."""
    async with store.snapshot() as view:
        await store.commit(Insert(USERS, user("z")))
        found = await met(view)
    await store.commit(Delete(USERS, "z"))
    return found


async def met_one(store):
    return await met(store, {"n": RECORDS - 1})


READS = {"scan that finds one": met_one, "scan": met, "snapshot": met_in_a_snapshot}


@pytest.mark.deep
@pytest.mark.alone
@pytest.mark.gen_test(timeout=300)
async def test_a_hundred_thousand_records_are_read_in_little_memory_without_a_stall(
    store, backend, record_property
):
    if backend.name not in ("sqlite", "pymongo", "motor"):
        pytest.skip("only what production runs on")
    await fill(store)
    told = []
    with set_aside():
        await measure(store, told)
    record_property("counts", f"{RECORDS} records, longest stall and memory; {'; '.join(told)}")


async def measure(store, told):
    for name, read in READS.items():
        stall = await stall_of(read, store)
        peak = await peak_of(read, store)
        told.append(f"{name}: {stall * 1000:.0f} ms, {peak / 2**20:.1f} MiB")

        assert stall < LONGEST_STALL_SECONDS
        assert peak < MOST_MEMORY_BYTES


@contextmanager
def set_aside():
    """Keep the garbage collection from going through all that the tests themselves have made."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


async def stall_of(read, store):
    """The longest stall, in the best of some runs: what the program does itself is in all."""
    longest = []
    for _ in range(RUNS):
        async with watched() as stalls:
            found = await read(store)
        longest.append(stalls.longest)

        assert found in (1, RECORDS)
        assert stalls.turns > 10
    return min(longest)


async def peak_of(read, store):
    """The most memory that a read holds at once."""
    tracemalloc.start()
    try:
        async with asyncio.timeout(200):
            await read(store)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


async def test_a_loop_that_computes_or_is_blocked_is_noticed():
    for stall in (compute, time.sleep):
        async with watched() as stalls:
            stall(0.1)

        assert stalls.longest > LONGEST_STALL_SECONDS


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


async def test_memory_that_is_held_is_noticed(sqlite):
    await sqlite.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(AT_ONCE)])

    async def hold_all(store):
        return [record async for record in store.scan(USERS)]

    assert await peak_of(hold_all, sqlite) > MOST_MEMORY_BYTES * AT_ONCE / RECORDS
