"""A full disk is told to whoever writes; reading goes on, and nothing is broken by it."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from datetime import timedelta

import pytest

from storage import Delete, Insert, Unavailable, Update
from storage.sqlite import SqliteStore
from tests.storage.records import ALL, ENTRIES, USERS, Entry, user
from tests.support.programs.disks import MIB, small_disk

TEXT = "x" * 10_000


class FewPages:
    """SQLite's own limit."""

    def __init__(self, directory):
        self.directory = directory

    def connect(self, *args, **options):
        connection = sqlite3.connect(*args, **options)
        connection.execute("PRAGMA max_page_count = 300").fetchall()
        return connection

    def grow(self, store):
        store._writer._connection.execute("PRAGMA max_page_count = 30000").fetchall()


class FileSystem:
    """A file system of two megabytes."""

    connect = staticmethod(sqlite3.connect)

    def __init__(self, disk):
        self.directory = disk.path
        self._disk = disk

    def grow(self, store):
        self._disk.resize(16 * MIB)


@pytest.fixture(params=["pages", "file system"])
def disk(request, tmp_path):
    if request.param == "pages":
        yield FewPages(tmp_path)
        return
    with small_disk(tmp_path / "small", 2 * MIB) as made:
        yield FileSystem(made)


@pytest.fixture
def limited(io_loop, disk, clock):
    """A store that soon is full."""
    store = SqliteStore(
        disk.directory / "db.sqlite3",
        now=clock.now,
        new_id=lambda: uuid.uuid4().hex,
        connect=disk.connect,
    )
    io_loop.run_sync(lambda: store.open(ALL))
    yield store
    io_loop.run_sync(store.close, timeout=30)


async def filled(store):
    """Write until no more goes in; the ids of what did."""
    await store.commit(Insert(USERS, user("ann")))
    for n in range(1000):
        try:
            await store.commit(Insert(ENTRIES, Entry(id=f"e{n:03}", text=TEXT)))
        except Unavailable:
            return [f"e{n:03}" for n in range(n)]
    raise AssertionError("the disk is not small")


async def everything_else(store):
    """Every way of writing at once, more than fits; what went in, and the errors."""
    ids = [f"f{n:03}" for n in range(200)]
    units = [[Insert(ENTRIES, Entry(id=id, text=TEXT))] for id in ids]
    whole = [Insert(ENTRIES, Entry(id="g", text=TEXT * 99)), Update(USERS, "ann", set={"n": 9})]
    bulk, half, *outcomes = await asyncio.gather(
        store.commit_each(units[:100]),
        store.commit(*whole),
        *(store.commit(*unit) for unit in units[100:]),
        return_exceptions=True,
    )
    outcomes = [*bulk, *outcomes]
    went_in = [id for id, outcome in zip(ids, outcomes, strict=True) if outcome is None]
    return went_in, {(type(o), str(o)) for o in (half, *outcomes) if o is not None}


async def test_a_full_disk_is_reported_reads_go_on_and_room_is_used_at_once(limited, disk):
    kept = await filled(limited)
    went_in, errors = await everything_else(limited)
    kept += went_in

    assert errors == {(Unavailable, "SQLite: database or disk is full")}
    assert await limited.get(USERS, "ann") == user("ann")
    assert await limited.get(ENTRIES, "e000") == Entry(id="e000", text=TEXT)
    assert len((await limited.find(ENTRIES, limit=1000)).records) == len(kept)
    assert [each.id async for each in limited.scan(ENTRIES)] == kept
    async with limited.snapshot() as view:
        assert await view.count(ENTRIES) == len(kept)
    await limited.ping()
    disk.grow(limited)
    await limited.commit(Insert(ENTRIES, Entry(id="later")), Delete(ENTRIES, kept[0]))
    assert (await limited.increment("k", window=timedelta(hours=1))).n == 1
    assert await limited.count(ENTRIES) == len(kept)


async def test_a_store_that_was_closed_on_a_full_disk_is_intact(limited, disk, clock):
    kept = await filled(limited)
    await limited.close()
    again = await reopened(limited._path, clock)
    if again is None:  # even what SQLite needs for reading may find no room
        disk.grow(limited)
        again = await reopened(limited._path, clock)

    assert [each.id async for each in again.scan(ENTRIES)] == kept
    await again.close()
    connection = sqlite3.connect(limited._path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


async def reopened(path, clock):
    store = SqliteStore(path, now=clock.now, new_id=lambda: uuid.uuid4().hex)
    try:
        await store.open(ALL)
    except Unavailable:
        return None
    return store
