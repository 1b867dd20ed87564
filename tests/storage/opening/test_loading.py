"""What a SQLite store does while it is filled: it waits for the disk at the end, and makes its
indexes of all rows at once."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import asynccontextmanager, closing

import pytest

from storage import Insert, StorageError, Unavailable
from storage.sqlite import SqliteStore, loading
from tests.storage.records import ALL, USERS, user


@pytest.fixture
def opened(tmp_path, clock):
    """`async with opened(name) as store` over a file of that name."""

    @asynccontextmanager
    async def opened(name="db"):
        path = tmp_path / f"{name}.sqlite3"
        store = SqliteStore(path, now=clock.now, new_id=lambda: uuid.uuid4().hex)
        await store.open(ALL)
        try:
            yield store
        finally:
            await store.close()

    return opened


def indexes(tmp_path, name="db"):
    with closing(sqlite3.connect(tmp_path / f"{name}.sqlite3")) as file:
        asked = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index'")
        return set(asked.fetchall())


def synchronous(store):
    return store._writer._connection.execute("PRAGMA synchronous").fetchone()[0]


def people(n):
    return [[Insert(USERS, user(f"u{number:04}"))] for number in range(n)]


async def load(store, units, failure=None):
    async with store.loading():
        assert not any(await store.commit_each(units))
        if failure:
            raise failure


async def test_a_loaded_store_has_the_indexes_of_any_other_and_waits_for_the_disk_again(
    opened, tmp_path
):
    async with opened("other"):
        pass
    async with opened() as store:
        async with store.loading():
            assert synchronous(store) == 1
            assert not any(await store.commit_each(people(40)))
            during = indexes(tmp_path)
        assert synchronous(store) == 2
        assert await store.count(USERS) == 40
        found = await store.find_each(USERS, "login_key", [user("u0007").login_key])

    assert [each.id for (each,) in found.values()] == ["u0007"]
    assert len(during) < len(indexes(tmp_path))
    assert indexes(tmp_path) == indexes(tmp_path, "other")


async def test_collections_that_have_records_keep_their_indexes(opened):
    async with opened() as store:
        await store.commit(Insert(USERS, user("a")))
        async with store.loading():
            outcomes = await store.commit_each(
                [[Insert(USERS, user("b", login_key="a@example.com"))]]
            )

        assert isinstance(outcomes[0], StorageError)


async def test_a_unique_key_that_comes_twice_is_refused_at_the_end(opened):
    async with opened() as store:
        with pytest.raises(StorageError, match="login_key is not unique"):
            await load(
                store,
                [
                    [Insert(USERS, user("a"))],
                    [Insert(USERS, user("b", login_key="a@example.com"))],
                ],
            )


async def test_a_store_whose_loading_was_cut_off_gets_its_indexes_at_the_next_opening(
    opened, tmp_path
):
    async with opened("other"):
        pass
    async with opened() as store:
        with pytest.raises(KeyError):
            await load(store, people(3), KeyError())
    assert indexes(tmp_path) != indexes(tmp_path, "other")

    async with opened() as store:
        assert await store.count(USERS) == 3

    assert indexes(tmp_path) == indexes(tmp_path, "other")


async def test_other_writes_have_their_turn_between_two_indexes(opened, monkeypatch):
    made, make_indexes = [], loading.make_indexes

    def make_and_note(connection, table):
        made.append(connection.in_transaction)
        make_indexes(connection, table)

    monkeypatch.setattr(loading, "make_indexes", make_and_note)
    async with opened() as store, store.loading():
        pass

    assert len(made) > len(ALL) - 1
    assert not any(made)


async def test_a_store_that_is_not_open_is_not_loaded(clock, tmp_path):
    store = SqliteStore(tmp_path / "db.sqlite3", now=clock.now, new_id=str)
    with pytest.raises(Unavailable):
        async with store.loading():
            pass
    await store.close()


async def test_a_failure_of_the_disk_is_one_of_the_store_and_the_writer_goes_on(
    opened, monkeypatch
):
    def fail(path):
        raise OSError(28, "No space left on device")

    async with opened() as store:
        monkeypatch.setattr(loading, "_sync", fail)
        with pytest.raises(Unavailable, match="No space left"):
            async with store.loading():
                pass
        await store.commit(Insert(USERS, user("a")))

        assert await store.count(USERS) == 1
