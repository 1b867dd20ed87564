"""What only SQLite has: the writer thread, its batches, its lock and its file."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import uuid
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import timedelta

import pytest

from storage import (
    Collection,
    Insert,
    InvalidValue,
    Record,
    StorageError,
    Unavailable,
    Unknown,
    Unsupported,
    Update,
)
from storage.base import UNKNOWN_AFTER_SECONDS
from storage.sqlite import SqliteStore
from storage.sqlite.sweep import Sweeper
from storage.sqlite.tables import SqliteTable, Tables
from tests.storage.records import ALL, ENTRIES, INDEXED, TICKETS, USERS, Entry, Ticket, user
from tests.storage.turning import turns
from tests.support.patience import loop_turns, until


@pytest.fixture
def path(tmp_path):
    return tmp_path / "db.sqlite3"


@pytest.fixture
def opened(path, clock):
    """`async with opened(**options) as store` over one file."""

    @asynccontextmanager
    async def opened(collections=ALL, **options):
        now = options.pop("now", clock.now)
        store = SqliteStore(path, now=now, new_id=lambda: uuid.uuid4().hex, **options)
        await store.open(collections)
        try:
            yield store
        finally:
            await store.close()

    return opened


class Faults:
    """Makes connections on which chosen statements fail, once each time they are asked to."""

    def __init__(self):
        self.failing: list[tuple[str, Exception]] = []
        self.statements: list[str] = []

    def connect(self, *args, **kwargs):
        faults = self

        class Connection(sqlite3.Connection):
            def execute(self, sql, *values):
                faults.statements.append(sql)
                for n, (start, error) in enumerate(faults.failing):
                    if sql.startswith(start):
                        del faults.failing[n]
                        raise error
                return super().execute(sql, *values)

        return sqlite3.connect(*args, factory=Connection, **kwargs)


def inserts(store, *ids):
    return [asyncio.ensure_future(store.commit(Insert(ENTRIES, Entry(id=id)))) for id in ids]


@contextmanager
def lock_held(path):
    """The turn of another process that does not end."""
    descriptor = os.open(f"{path}-lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


async def test_units_in_flight_share_one_transaction(opened):
    faults = Faults()
    async with opened(connect=faults.connect) as store:
        faults.statements.clear()
        with lock_held(store._path):
            units = inserts(store, *(f"e{n}" for n in range(100)))
            await loop_turns(50)
        await asyncio.gather(*units)

        assert 1 <= faults.statements.count("COMMIT") <= 2


async def test_an_index_that_is_not_needed_any_more_is_dropped(opened, path):
    for collection, there in ((INDEXED, 1), (USERS, 0), (INDEXED, 1)):
        async with opened([collection]):
            pass
        with closing(sqlite3.connect(path)) as connection:
            sql = "SELECT count(*) FROM sqlite_master WHERE name = 'users/org_id+family'"
            assert connection.execute(sql).fetchone() == (there,)


@pytest.mark.parametrize("error", ["database or disk is full", "disk I/O error"])
async def test_when_the_engine_rolls_a_batch_back_its_units_run_again_singly(opened, error):
    faults = Faults()
    async with opened(connect=faults.connect) as store:
        with lock_held(store._path):
            tasks = inserts(store, "first")
            await loop_turns(50)
            tasks += inserts(store, "a", "b", "c")
            await asyncio.sleep(0)
            faults.failing = [("COMMIT", sqlite3.OperationalError(error))] * 2
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)

        assert [type(o) for o in outcomes if o is not None] == [Unavailable]
        assert await store.count(ENTRIES) == 3
        await store.commit(Insert(ENTRIES, Entry(id="next")))


async def test_a_full_disk_refuses_what_does_not_fit_and_takes_the_rest(opened):
    def connect(*args, **kwargs):
        connection = sqlite3.connect(*args, **kwargs)
        connection.execute("PRAGMA max_page_count = 100").fetchall()
        return connection

    async with opened(connect=connect) as store:
        texts = ["x" * 1_000_000 if n == 5 else "x" for n in range(10)]
        outcomes = await asyncio.gather(
            *(
                store.commit(Insert(ENTRIES, Entry(id=f"e{n}", text=text)))
                for n, text in enumerate(texts)
            ),
            return_exceptions=True,
        )

        assert [n for n, o in enumerate(outcomes) if o is not None] == [5]
        assert isinstance(outcomes[5], Unavailable)
        assert await store.count(ENTRIES) == 9


async def test_the_writer_outlives_a_broken_clock_and_a_bug(opened, clock):
    is_broken = False

    def now():
        if is_broken:
            raise ZeroDivisionError
        return clock.now()

    faults = Faults()
    async with opened(now=now, connect=faults.connect) as store:
        is_broken = True
        with pytest.raises(StorageError):
            await store.commit(Insert(ENTRIES, Entry(id="a")))
        is_broken = False
        faults.failing = [("INSERT", ZeroDivisionError())]
        with pytest.raises(StorageError):
            await store.commit(Insert(ENTRIES, Entry(id="b")), Insert(ENTRIES, Entry(id="c")))
        await store.commit(Insert(ENTRIES, Entry(id="d")))

        assert [record.id async for record in store.scan(ENTRIES)] == ["d"]


async def test_what_fails_where_many_are_inserted_together_is_done_one_by_one(opened):
    faults = Faults()
    async with opened(connect=faults.connect) as store:
        begun = len(faults.statements)
        faults.failing = [
            ("INSERT OR ROLLBACK", ZeroDivisionError()),
            ("INSERT INTO", MemoryError()),
        ]
        outcomes = await store.commit_each([[Insert(ENTRIES, Entry(id=id))] for id in "abcdef"])
        written = [sql for sql in faults.statements[begun:] if sql.startswith("INSERT")]

        assert [type(outcome) for outcome in outcomes] == [StorageError, *[type(None)] * 5]
        assert [record.id async for record in store.scan(ENTRIES)] == list("bcdef")
        assert [sql.partition(" INTO")[0] for sql in written] == [
            "INSERT OR ROLLBACK",
            *["INSERT"] * 6,
        ]


async def test_a_store_that_somebody_locks_is_unavailable_and_recovers(opened, path, monkeypatch):
    monkeypatch.setattr("storage.sqlite.store._BUSY_SECONDS", 0.1)
    async with opened() as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        outcomes = await asyncio.gather(*inserts(store, "a", "b"), return_exceptions=True)
        other.execute("ROLLBACK")
        other.close()

        assert {type(outcome) for outcome in outcomes} == {Unavailable}
        assert await store.count(ENTRIES) == 0
        await store.commit(Insert(ENTRIES, Entry(id="c")))


async def test_a_lost_answer_is_unknown_and_reported_later(opened):
    async with opened(unknown_after_seconds=0.1) as store:
        with lock_held(store._path):
            with pytest.raises(Unknown) as caught:
                await store.commit(Insert(ENTRIES, Entry(id="a")))
            with pytest.raises(Unavailable):
                await store.applied(caught.value.unit)

        store._unknown_after_seconds = UNKNOWN_AFTER_SECONDS  # what was asked about is on its way
        assert await store.applied(caught.value.unit) is True
        assert await store.get(ENTRIES, "a") == Entry(id="a")


async def test_reads_go_on_while_the_writer_waits_for_its_turn(opened):
    async with opened() as store:
        await store.commit(Insert(ENTRIES, Entry(id="a")))
        with lock_held(store._path):
            tasks = inserts(store, "b")
            await loop_turns(50)

            assert await store.get(ENTRIES, "a") == Entry(id="a")
            assert await store.count(ENTRIES) == 1
            assert not tasks[0].done()
        await tasks[0]


async def test_at_most_five_hundred_units_of_imports_are_queued(opened, monkeypatch):
    async with opened() as store:
        entries = []
        submit = store._writer.submit
        monkeypatch.setattr(
            store._writer, "submit", lambda u: entries.append(submit(u)) or entries[-1]
        )
        with lock_held(store._path):
            units = [[Insert(ENTRIES, Entry(id=f"e{n}"))] for n in range(1000)]
            imports = [asyncio.ensure_future(store.commit_each(units[n::2])) for n in range(2)]
            await until(lambda: sum(len(entry.units) for entry in entries) == 500)
            await loop_turns(50)
            queued = sum(len(entry.units) for entry in entries)
        await asyncio.gather(*imports)

        assert queued == 500
        assert await store.count(ENTRIES) == 1000


async def test_a_record_may_not_grow_beyond_its_limit(sqlite):
    await sqlite.commit(Insert(USERS, user("a", note="x" * 2_500_000)))
    with pytest.raises(InvalidValue):
        await sqlite.commit(Update(USERS, "a", set={"tags": ["x" * 2_500_000]}))

    assert (await sqlite.get(USERS, "a")).tags == []


async def test_a_number_may_not_grow_beyond_64_bits(sqlite):
    await sqlite.commit(Insert(USERS, user("a", n=2**63 - 1)))
    with pytest.raises(InvalidValue):
        await sqlite.commit(Update(USERS, "a", increment={"n": 1}))

    assert (await sqlite.get(USERS, "a")).n == 2**63 - 1


async def test_keys_that_are_already_doubled_are_refused_with_the_index(opened):
    class Plain(Record):
        name: str = "same"

    async with opened([Collection("plains", Plain)]) as store:
        plain = Collection("plains", Plain)
        await store.commit(Insert(plain, Plain(id="a")), Insert(plain, Plain(id="b")))
    with pytest.raises(Unsupported, match="plains:name"):
        async with opened([Collection("plains", Plain, unique=("name",))]):
            pass


@pytest.mark.parametrize("name", ['x"y', "Users", "a b", "", "a;b", "sqlite_x-"])
async def test_a_name_that_is_no_plain_word_never_reaches_sql(opened, name):
    with pytest.raises(InvalidValue):
        async with opened([Collection(name, Entry)]):
            pass


async def test_the_file_is_its_owners_alone(opened, path):
    async with opened() as store:
        await store.commit(Insert(ENTRIES, Entry(id="a")))
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}

    assert len(modes) == 5
    assert set(modes.values()) == {0o600}


async def test_closing_leaves_everything_in_the_one_file(opened, path):
    async with opened() as store:
        await store.commit(Insert(ENTRIES, Entry(id="a")))

    locks = {f"{path.name}-lock", f"{path.name}-lock-door"}
    assert {file.name for file in path.parent.iterdir()} == {path.name, *locks}


async def test_a_directory_that_is_missing_is_unavailable_by_name(clock, tmp_path):
    store = SqliteStore(tmp_path / "no" / "db", now=clock.now, new_id=str)
    with pytest.raises(Unavailable, match="no/db"):
        await store.open(ALL)
    await store.close()


async def test_a_file_that_is_no_database_is_refused_by_name_and_left_as_it_is(opened, path):
    path.write_text("my diary\n" * 1000)
    with pytest.raises(Unsupported, match="db.sqlite3 is not a store of this service"):
        async with opened():
            pass

    assert path.read_text() == "my diary\n" * 1000


async def test_commits_are_synced_to_disk(sqlite):
    connection = sqlite._writer._connection

    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == (b"wal",)
    assert sqlite._reader._connection.execute("PRAGMA mmap_size").fetchone() in (None, (0,))


async def test_others_have_their_turns_while_a_thousand_records_are_read(sqlite):
    ids = [f"{n:04}" for n in range(1000)]
    await sqlite.commit_each([[Insert(USERS, user(id))] for id in ids])
    with turns() as turned:
        by_id = await sqlite.get_many([(USERS, id) for id in ids])
        while_got, found = turned(), await sqlite.find_each(USERS, "id", ids)
        while_found = turned() - while_got

    assert [record.id for record in by_id] == ids == list(found)
    assert min(while_got, while_found) >= 9


async def test_what_expired_a_day_ago_is_swept_and_nothing_else(sqlite, clock):
    for hours in (1, 2, 30):
        ends = clock.now() + timedelta(hours=hours)
        await sqlite.commit(Insert(TICKETS, Ticket(id=f"t{hours}", expires_at=ends)))
    await sqlite.increment("k", window=timedelta(hours=1))
    await sqlite.commit(Insert(USERS, user("a")))
    clock.advance(timedelta(hours=25, minutes=30))
    connection = sqlite._writer._connection
    sweeper = Sweeper(Tables(ALL, SqliteTable))
    sweeper.remove_slice(connection, clock.now())
    sweeper.remove_oldest(connection, clock.now())

    kept = connection.execute("SELECT id FROM tickets ORDER BY id").fetchall()
    assert kept == [(b"t2",), (b"t30",)]
    assert sweeper.take_removed() == {"tickets": 1, "counters": 1}
    assert sweeper.take_removed() == {}
    assert connection.execute("SELECT count(*) FROM counters").fetchone() == (0,)
    assert await sqlite.count(USERS) == 1


async def test_a_sweep_goes_round_in_slices(sqlite, clock):
    units = [[Insert(TICKETS, Ticket(id=f"{n:04}", expires_at=clock.now()))] for n in range(1200)]
    await sqlite.commit_each(units)
    clock.advance(timedelta(hours=25))
    sweeper = Sweeper(Tables(ALL, SqliteTable))
    connection = sqlite._writer._connection
    left = []
    for _ in range(3):
        sweeper.remove_slice(connection, clock.now())
        left.append(connection.execute("SELECT count(*) FROM tickets").fetchone()[0])

    assert left == [700, 200, 0]


async def test_the_writer_sweeps_by_itself(opened, clock, monkeypatch):
    monkeypatch.setattr("storage.sqlite.writer._SWEEP_EVERY_SECONDS", 0)
    async with opened() as store:
        await store.commit(Insert(TICKETS, Ticket(id="t", expires_at=clock.now())))
        clock.advance(timedelta(hours=25))
        await store.commit(Insert(ENTRIES, Entry(id="a")))
        await store.commit(Insert(ENTRIES, Entry(id="b")))
        rows = store._reader._connection.execute("SELECT count(*) FROM tickets").fetchone()

        assert rows == (0,)
