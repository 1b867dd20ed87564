"""What strangers begin and leave costs no room for long."""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import timedelta

import msgspec
import pytest

from idp.records import ALL, AUTH_REQUESTS, EVENTS, LEASES, USED_VALUES
from storage import COUNTERS, Insert
from storage.sqlite import SqliteStore, free_space
from tests.support.clock import SteppingClock
from tests.support.store.generated import Generator

BEGUN = 100_000
ENOUGH = 600.0  # seconds, on a machine that has much else to do


@pytest.mark.parametrize("collection", [COUNTERS, LEASES, USED_VALUES], ids=lambda one: one.name)
def test_what_is_of_no_use_after_its_end_stays_for_an_hour(collection):
    assert collection.retention == timedelta(hours=1)


async def store_many(store, records, collection, n):
    for start in range(0, n, 5000):
        numbers = range(start, min(start + 5000, n))
        each = (
            msgspec.structs.replace(records[at % len(records)], id=f"{at:06}") for at in numbers
        )
        assert not any(await store.commit_each([[Insert(collection, one)] for one in each]))


@pytest.mark.load
@pytest.mark.gen_test(timeout=2 * ENOUGH)
async def test_three_days_after_many_begun_sign_ins_the_file_has_its_size_again(
    tmp_path, monkeypatch
):
    # The generated records are five times as large as real ones. Still fewer pages are returned
    # than become free, as with the real number: or it would end before all are free.
    monkeypatch.setattr(free_space, "PAGES_PER_RELEASE", 1_000)
    path, clock = tmp_path / "db.sqlite3", SteppingClock()
    generator = Generator(1, clock.now())
    requests, events = (
        [generator.record(collection) for _ in range(50)] for collection in (AUTH_REQUESTS, EVENTS)
    )
    for one in requests:
        one.expires_at = clock.now() + timedelta(hours=1)
    store = SqliteStore(path, now=clock.now, new_id=lambda: uuid.uuid4().hex)
    await store.open(ALL)
    try:
        await store_many(store, events, EVENTS, 10_000)
        store._writer._checkpointer.copy_soon()
        await asyncio.to_thread(time.sleep, 1)
        before = path.stat().st_size
        await store_many(store, requests, AUTH_REQUESTS, BEGUN)
        clock.advance(timedelta(hours=72))  # and nothing is written any more

        ends_at = time.monotonic() + ENOUGH
        while path.stat().st_size > 1.2 * before or path.stat().st_size < before / 2:
            assert time.monotonic() < ends_at, (before, path.stat().st_size)
            await asyncio.sleep(1)
        after = path.stat().st_size
    finally:
        await store.close()

    assert after <= 1.2 * before
    assert path.stat().st_size <= 1.2 * before
