"""What is removed from a SQLite file is given back to the file system."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import asynccontextmanager, closing
from datetime import timedelta

import pytest

from storage import Delete, Insert
from storage.sqlite import SqliteStore, free_space
from storage.sqlite.free_space import FreeSpace
from tests.storage.records import ALL, ENTRIES, TICKETS, Entry, Ticket

TEXT = "x" * 1000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "db.sqlite3"


@pytest.fixture
def opened(path, clock):
    """`async with opened() as store` over one file."""

    @asynccontextmanager
    async def opened(collections=ALL):
        store = SqliteStore(path, now=clock.now, new_id=lambda: uuid.uuid4().hex)
        await store.open(collections)
        try:
            yield store
        finally:
            await store.close()

    return opened


def auto_vacuum(path):
    with closing(sqlite3.connect(path)) as file:
        return file.execute("PRAGMA auto_vacuum").fetchone()[0]


async def filled(store, prefix, n):
    units = [[Insert(ENTRIES, Entry(id=f"{prefix}{at:06}", text=TEXT))] for at in range(n)]
    assert not any(await store.commit_each(units))


async def emptied(store, prefix, n):
    units = [[Delete(ENTRIES, f"{prefix}{at:06}")] for at in range(n)]
    assert not any(await store.commit_each(units))


async def test_a_new_file_can_be_shortened_and_an_old_one_stays_as_it_is(opened, path):
    async with opened():
        pass
    assert auto_vacuum(path) == 2
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = DELETE")
        file.execute("PRAGMA auto_vacuum = NONE")
        file.execute("VACUUM")

    async with opened() as store:
        await store.commit(Insert(ENTRIES, Entry(id="one")))

    assert auto_vacuum(path) == 0


@pytest.mark.full
async def test_when_a_fifth_is_free_pages_are_returned_until_it_is_a_tenth(
    opened, path, monkeypatch
):
    monkeypatch.setattr(free_space, "MIN_BYTES", 64 * 1024)
    monkeypatch.setattr("storage.sqlite.writer._SWEEP_EVERY_SECONDS", 0)
    async with opened() as store:
        await filled(store, "a", 300)
        await filled(store, "b", 2000)
        await emptied(store, "b", 2000)
        for at in range(20):  # after each write some pages are returned
            await store.commit(Insert(ENTRIES, Entry(id=f"more {at}")))
        connection = store._writer._connection
        free, pages = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("freelist_count", "page_count")
        )
        assert await store.count(ENTRIES) == 320

    assert free <= 0.1 * pages
    assert path.stat().st_size < 300 * 2000 + 40 * 4096


@pytest.mark.full
@pytest.mark.parametrize(
    ("pages", "removed", "is_due"), [(400, 0.5, True), (400, 0.1, False), (20, 0.9, False)]
)
def test_few_free_pages_stay_for_what_comes_next(path, monkeypatch, pages, removed, is_due):
    monkeypatch.setattr(free_space, "MIN_BYTES", 100 * 4096)
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA auto_vacuum = INCREMENTAL")
        file.execute("CREATE TABLE rows(id INTEGER PRIMARY KEY, text)")
        rows = [("x" * 4000,)] * pages
        file.executemany("INSERT INTO rows(text) VALUES (?)", rows)
        file.execute("DELETE FROM rows WHERE id <= ?", (pages * removed,))

        assert FreeSpace().is_due(file) is is_due


async def test_an_idle_store_removes_what_has_expired_from_each_of_its_tables(
    opened, clock, monkeypatch
):
    async with opened() as store:
        end = clock.now() + timedelta(seconds=1)
        await store.commit(Insert(TICKETS, Ticket(id="t", expires_at=end)))
        connection, writer = store._writer._connection, store._writer
        clock.advance(timedelta(days=1, seconds=2))
        asked = connection.execute("SELECT count(*) FROM tickets").fetchone()
        monkeypatch.setattr("storage.sqlite.writer._SWEEP_EVERY_SECONDS", 0)
        for _ in range(len(writer._sweeper._after)):
            await writer.call(lambda connection: writer._maintain_when_due(is_idle=True))

        assert asked == (1,)
        assert connection.execute("SELECT count(*) FROM tickets").fetchone() == (0,)
