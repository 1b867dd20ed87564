"""What strangers make SQLite store goes soon after its end: by an index, and in short slices."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta

import pytest

from storage import Insert, open_store
from storage.sqlite import SqliteStore
from storage.sqlite.sweep import _DELETE_OLDEST, Sweeper
from storage.sqlite.tables import SqliteTable, Tables, statement
from tests.storage.observers import RecordingObserver
from tests.storage.records import OLDER_VISITS, VISITS, Ticket
from tests.support import patience
from tests.support.clock import SteppingClock
from tests.support.patience import until


@pytest.fixture
def opened(tmp_path, clock):
    """`async with opened(collection) as store` over one file."""

    @asynccontextmanager
    async def opened(collection, observer=None):
        path = tmp_path / "db.sqlite3"
        store = SqliteStore(path, now=clock.now, new_id=lambda: uuid.uuid4().hex)
        store.observer = observer
        await store.open([collection])
        try:
            yield store
        finally:
            await store.close()

    return opened


async def many_visits(store, clock, n):
    """So many records of strangers, which end one after the other, a millisecond apart."""
    ends = [clock.now() + timedelta(milliseconds=at) for at in range(n)]
    visits = [Ticket(id=f"{at * 7919 % n:06}", expires_at=end) for at, end in enumerate(ends)]
    await store.commit_each([[Insert(VISITS, one)] for one in visits])
    return [one.id for one in visits]


@pytest.mark.promise("security: sweep")
async def test_the_oldest_records_of_strangers_go_first_and_ten_minutes_after_their_end(
    opened, clock, monkeypatch
):
    monkeypatch.setattr("storage.sqlite.writer._SWEEP_EVERY_SECONDS", 3600)
    async with opened(VISITS) as store:
        ids = await many_visits(store, clock, 120)
        connection, sweeper = store._writer._connection, Sweeper(Tables([VISITS], SqliteTable))
        clock.advance(timedelta(minutes=10))
        assert not sweeper.has_expired(connection, clock.now())

        clock.advance(timedelta(milliseconds=110))
        assert sweeper.has_expired(connection, clock.now())
        monkeypatch.setattr("storage.sqlite.sweep.SLICE_SECONDS", 0)
        monkeypatch.setattr("storage.sqlite.sweep._ROWS_PER_DELETE", 40)
        removed = sweeper.remove_oldest(connection, clock.now())
        left = {row[0].decode() for row in connection.execute("SELECT id FROM visits")}

    assert removed == 40
    assert left == set(ids[40:])


async def test_the_records_of_strangers_are_removed_by_their_index(opened):
    async with opened(VISITS) as store:
        rows = store._writer._connection.execute(
            "EXPLAIN QUERY PLAN " + statement(_DELETE_OLDEST, "visits"), ("2020", 50)
        ).fetchall()

    plan = " ".join(row[3].decode() for row in rows)
    assert "USING INDEX visits/expires_at (<expr><?)" in plan
    assert "TEMP B-TREE" not in plan


async def test_a_file_of_the_release_before_gets_the_index_when_it_is_opened(opened, clock):
    async with opened(OLDER_VISITS) as store:
        await many_visits(store, clock, 10)
        assert not names_of_indexes(store, "visits")
    async with opened(VISITS) as store:
        assert names_of_indexes(store, "visits") == {"visits/expires_at"}
        assert await store.count(VISITS) == 9  # the clock stands at the end of the first


def names_of_indexes(store, table):
    sql = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql NOT NULL"
    rows = store._reader._connection.execute(sql, (table,)).fetchall()
    return {row[0].decode() for row in rows}


@pytest.mark.load
@pytest.mark.promise("security: sweep")
async def test_a_slice_is_short(opened, clock):
    took = []
    async with opened(VISITS) as store:
        await many_visits(store, clock, 3000)
        connection, sweeper = store._writer._connection, Sweeper(Tables([VISITS], SqliteTable))
        now, removed = clock.now() + timedelta(minutes=11), 1
        while removed:
            began = time.monotonic()
            removed = sweeper.remove_oldest(connection, now)
            took.append(time.monotonic() - began)

    assert sorted(took)[len(took) // 2] < 0.05


@pytest.mark.full
@pytest.mark.promise("security: sweep")
async def test_the_writer_removes_them_on_a_timer_in_slices(opened, clock, monkeypatch):
    monkeypatch.setattr("storage.sqlite.writer._SWEEP_EVERY_SECONDS", 0.05)
    slices = []
    remove = Sweeper.remove_oldest

    def noted(sweeper, connection, now):
        slices.append(remove(sweeper, connection, now))
        return slices[-1]

    monkeypatch.setattr(Sweeper, "remove_oldest", noted)
    observer = RecordingObserver()
    async with opened(VISITS, observer) as store:
        await many_visits(store, clock, 3000)
        clock.advance(timedelta(minutes=11))
        sql = "SELECT count(*) FROM visits"
        await until(lambda: store._reader._connection.execute(sql).fetchone() == (0,), "the end")

    assert sum(slices) == 3000
    assert {collection for collection, _ in observer.sweeps} == {"visits"}
    assert sum(records for _, records in observer.sweeps) == 3000
    assert len(slices) > 1


async def test_what_has_expired_by_the_store_s_clock_is_found_again_when_that_is_set_back(
    tmp_path, clock, monkeypatch
):
    """A process whose clock a test has set ahead keeps what a reset has restored."""
    monkeypatch.setattr("storage.sqlite.writer._SWEEP_EVERY_SECONDS", 0)
    asked, has_expired = [], Sweeper.has_expired

    def noted(sweeper, connection, now):
        asked.append(now)
        return has_expired(sweeper, connection, now)

    monkeypatch.setattr(Sweeper, "has_expired", noted)
    removals = SteppingClock()
    url = f"sqlite:///{tmp_path}/db.sqlite3"
    store = open_store(url, now=clock.now, new_id=lambda: "unit", removal_now=removals.now)
    await store.open([VISITS])
    clock.advance(timedelta(hours=1))
    await many_visits(store, clock, 10)
    clock.advance(timedelta(days=30))
    passes = len(asked)
    await until(lambda: len(asked) > passes + 2)
    found = await store.count(VISITS)
    clock.advance(timedelta(days=-30))
    found_again = await store.count(VISITS)
    await store.close()

    assert set(asked) == {removals.now()}
    assert (found, found_again) == (0, 9)


async def test_no_more_than_five_thousand_rows_are_removed_in_a_second(opened, clock, monkeypatch):
    async with opened(VISITS) as store:
        writer = store._writer
        monkeypatch.setattr(Sweeper, "has_expired", lambda *_: True)
        monkeypatch.setattr(Sweeper, "remove_oldest", lambda *_: 1250)
        monkeypatch.setattr(writer, "_removed", 0)
        pauses = [writer._remove() for _ in range(4)]

    assert pauses == [0.02, 0.02, 0.02, 1.0]


async def test_a_file_lock_that_fails_in_a_sweep_leaves_the_writer_at_work(
    opened, clock, monkeypatch
):
    monkeypatch.setattr("storage.sqlite.writer._SWEEP_EVERY_SECONDS", 0.05)
    async with opened(VISITS) as store:
        await store.commit(Insert(VISITS, Ticket(id="a", expires_at=clock.now())))
        clock.advance(timedelta(days=2))
        held, failed = store._writer._lock.held, threading.Event()

        @contextmanager
        def failing_once():
            if not failed.is_set():
                failed.set()
                raise OSError(37, "No locks available")
            with held():
                yield

        monkeypatch.setattr(store._writer._lock, "held", failing_once)
        await asyncio.to_thread(failed.wait, 10)
        later = Ticket(id="b", expires_at=clock.now() + timedelta(days=3))
        await asyncio.wait_for(store.commit(Insert(VISITS, later)), patience.SECONDS)

        assert await store.get(VISITS, "b") == later
