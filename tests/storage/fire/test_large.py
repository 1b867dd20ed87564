"""A hundred thousand records are read in little memory, while the loop goes on turning."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import os
import threading
import time
import tracemalloc
from contextlib import asynccontextmanager, contextmanager
from statistics import median

import pytest

from storage import Delete, Insert
from tests.storage.records import USERS, user
from tests.support.measured.stalls import watched

RECORDS = 100_000
AT_ONCE = 5_000
RUNS = 3
LONGEST_STALL_SECONDS = 0.05
MOST_MEMORY_BYTES = 2 * 2**20  # all of them together take twenty times as much


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


READS = {
    "scan that finds one": (met_one, 1),
    "scan": (met, RECORDS),
    "snapshot": (met_in_a_snapshot, RECORDS),
}


@pytest.mark.load
async def test_a_hundred_thousand_records_are_read_in_little_memory_without_a_stall(
    store, backend, record_property
):
    if backend.name not in ("sqlite", "pymongo", "motor"):
        pytest.skip("only what production runs on")
    await fill(store)
    told = []
    with set_aside():
        await measure(store, told)
    assert len(told) == len(READS)
    record_property("counts", f"{RECORDS} records, longest stall and memory; {'; '.join(told)}")


async def measure(store, told):
    for name, (read, expected) in READS.items():
        stall = await stall_of(read, store, expected)
        peak = await peak_of(read, store, expected)
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


async def stall_of(read, store, expected):
    """The longest stall, in the median of some runs: what the program does itself is in most."""
    longest = []
    for _ in range(RUNS):
        async with watched() as stalls:
            found = await read(store)
        longest.append(stalls.longest)

        assert found == expected
        assert stalls.turns > 10
    return median(longest)


async def peak_of(read, store, expected):
    """The most memory that a read holds at once."""
    tracemalloc.start()
    try:
        async with asyncio.timeout(200):
            assert await read(store) == expected
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


async def test_a_loop_that_computes_or_is_blocked_is_noticed():
    for stall in (compute, time.sleep):
        async with watched() as stalls:
            stall(0.1)

        assert stalls.longest > LONGEST_STALL_SECONDS


async def test_a_blocked_loop_is_noticed_while_other_threads_wait_for_a_processor():
    async with competitors(), watched() as stalls:
        time.sleep(0.2)

    assert stalls.longest > 0.15


@asynccontextmanager
async def competitors():
    """More threads than there are processors, each of which computes."""
    is_over = threading.Event()

    def hash_on():
        while not is_over.is_set():
            hashlib.pbkdf2_hmac("sha256", b"", b"", 5_000)  # lets other threads run

    running = [asyncio.to_thread(hash_on) for _ in range(2 * os.cpu_count())]
    running = asyncio.gather(*running)
    await asyncio.sleep(0.05)
    try:
        yield
    finally:
        is_over.set()
        await running


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


async def test_memory_that_is_held_is_noticed(sqlite):
    await sqlite.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(2 * AT_ONCE)])

    async def hold_all(store):
        return len([record async for record in store.scan(USERS)])

    assert await peak_of(hold_all, sqlite, 2 * AT_ONCE) > MOST_MEMORY_BYTES


async def test_a_scan_that_misses_records_is_noticed(sqlite):
    await sqlite.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(2)])
    for judge in (stall_of, peak_of):
        with pytest.raises(AssertionError):
            await judge(met, sqlite, RECORDS)
