"""SQLite's log is copied back into the file beside whoever writes."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import asynccontextmanager

import pytest

from storage import Insert
from storage.sqlite import SqliteStore, checkpoints
from tests.storage.observers import RecordingObserver
from tests.storage.records import ALL, ENTRIES, Entry
from tests.support.patience import SECONDS, loop_turns, until

EVERY = 200
PATIENCE_SECONDS = 20


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(checkpoints, "ROWS_BETWEEN_COPIES", EVERY)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "db.sqlite3"


@asynccontextmanager
async def opened(path, clock, observer=None, **options):
    store = SqliteStore(path, now=clock.now, new_id=lambda: uuid.uuid4().hex, **options)
    store.observer = observer
    await store.open(ALL)
    try:
        yield store
    finally:
        await store.close()


async def write(store, name, count=EVERY):
    units = [[Insert(ENTRIES, Entry(id=f"{name}-{n}", text="x" * 1000))] for n in range(count)]
    assert not any(await store.commit_each(units))


def octets(path):
    return path.stat().st_size


async def test_what_was_written_comes_into_the_file_while_the_store_is_open(path, clock):
    observer = RecordingObserver()
    async with opened(path, clock, observer) as store:
        empty = octets(path)
        await write(store, "few", EVERY // 2)
        await loop_turns(50)
        assert octets(path) == empty

        await write(store, "many")
        await until(lambda: octets(path) > empty + 1000 * EVERY and observer.copies)

    assert all(0 < seconds < SECONDS for seconds in observer.copies)


async def test_the_log_is_begun_anew_then_and_does_not_grow(path, clock):
    log = path.with_name(f"{path.name}-wal")
    async with opened(path, clock) as store:
        for n in range(10):
            before = octets(path)
            await write(store, f"{n}")
            await until(lambda before=before: octets(path) > before)
        assert octets(log) < octets(path) / 2


async def test_a_snapshot_goes_on_being_read(path, clock):
    async with opened(path, clock) as store:
        await write(store, "before", 10)
        async with store.snapshot() as view:
            await write(store, "after")
            await write(store, "later")

            assert await view.count(ENTRIES) == 10
        assert await store.count(ENTRIES) == 10 + 2 * EVERY


async def test_writing_goes_on_where_the_log_cannot_be_copied(path, clock):
    class Full(sqlite3.Connection):
        def execute(self, sql, *values):
            if sql.startswith("PRAGMA wal_checkpoint(PASSIVE)"):
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(sql, *values)

    def connect(*args, **kwargs):
        return sqlite3.connect(*args, factory=Full, **kwargs)

    async with opened(path, clock, connect=connect) as store:
        for n in range(3):
            await write(store, f"{n}")
        assert await store.count(ENTRIES) == 3 * EVERY
