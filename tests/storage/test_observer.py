"""Observers get every call of a store, and the commands that calls share."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from storage import Conflict, Delete, Insert, Store, Update, open_store
from storage.observed_store import ObservedStore
from tests.storage.observers import RecordingObserver
from tests.storage.records import ALL, USERS, user

# What is made of other methods.
COMPOSED = {"get_records", "reset"}


@asynccontextmanager
async def observed(url, clock, *observers):
    store = open_store(url, now=clock.now, new_id=lambda: uuid.uuid4().hex, observers=observers)
    await store.open(ALL)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(params=["sqlite", "mongodb"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/db.sqlite3"
    return request.getfixturevalue("emptied_mongodb")


def described(observer):
    return [(each["method"], len(each["batches"])) for each in observer.calls]


async def test_calls_are_observed_with_their_kind_and_how_they_ended(url, clock):
    observer = RecordingObserver()
    async with observed(url, clock, observer) as store:
        observer.calls.clear()
        await store.commit(Insert(USERS, user("a")))
        with pytest.raises(Conflict):
            await store.commit(Insert(USERS, user("a")))
        await store.get(USERS, "a")
        await store.find(USERS, {"login_key": "a"})
        await store.increment("tries", window=timedelta(hours=1))

    assert [(each["kind"], each["method"], each["error"]) for each in observer.calls] == [
        ("write", "commit", None),
        ("write", "commit", "Conflict"),
        ("read", "get", None),
        ("read", "find", None),
        ("write", "increment", None),
    ]


async def test_units_that_share_a_command_are_observed_as_one_batch(url, clock):
    observer = RecordingObserver()
    async with observed(url, clock, observer) as store:
        await store.commit(Insert(USERS, user("first")))
        observer.calls.clear()
        observer.batches.clear()
        units = [Insert(USERS, user(f"u{n}")) for n in range(40)]
        await asyncio.gather(*map(store.commit, units))

    assert len(observer.calls) == 40
    assert [len(each["batches"]) for each in observer.calls] == [1] * 40
    assert max(len(batch.calls) for batch in observer.batches) > 1
    assert sum(len(batch.calls) for batch in observer.batches) == 40
    assert all(batch.kind == "write" and batch.ended > batch.began for batch in observer.batches)


async def test_reads_that_share_a_command_are_observed_as_one_batch(emptied_mongodb, clock):
    observer = RecordingObserver()
    async with observed(emptied_mongodb, clock, observer) as store:
        observer.batches.clear()
        await asyncio.gather(*(store.get(USERS, f"u{n}") for n in range(20)))

    (batch,) = observer.batches
    assert (batch.system, batch.kind, batch.operation) == ("mongodb", "read", "find")
    assert len(batch.calls) == 20


async def test_a_unit_of_several_writes_is_a_batch_of_its_own(url, clock):
    observer = RecordingObserver()
    async with observed(url, clock, observer) as store:
        observer.batches.clear()
        await store.commit(Insert(USERS, user("a")), Insert(USERS, user("b")))
        await store.commit(Update(USERS, "a", set={"n": 1}), Delete(USERS, "b"))

    found = [(each.operation, len(each.calls)) for each in observer.batches]
    assert found == [("transaction", 1), ("transaction", 1)]


async def test_two_observers_get_the_same(url, clock):
    one, other = RecordingObserver(), RecordingObserver()
    async with observed(url, clock, one, other) as store:
        await asyncio.gather(*(store.commit(Insert(USERS, user(f"u{n}"))) for n in range(5)))

    assert described(one) == described(other)
    assert len(described(one)) >= 5
    assert one.batches[-1].calls[0] is not other.batches[-1].calls[0]


async def test_a_batch_that_fails_as_a_whole_has_its_error(emptied_mongodb, clock):
    observer = RecordingObserver()
    async with observed(emptied_mongodb, clock, observer) as store:
        observer.batches.clear()
        await store._store._opened.driver.client.close()
        with pytest.raises(Exception, match="."):
            await store.get(USERS, "a")

    (batch,) = observer.batches
    assert batch.failed is not None
    assert observer.calls[-1]["error"] == "Unavailable"


def test_every_method_of_a_store_is_passed_on():
    methods = {
        name
        for name, member in inspect.getmembers(Store)
        if inspect.isfunction(member) and not name.startswith("_")
    }

    assert methods - COMPOSED - set(vars(ObservedStore)) == set()


def test_a_store_without_observers_is_not_wrapped(clock):
    store = open_store("memory://", now=clock.now, new_id=lambda: "id")

    assert not isinstance(store, ObservedStore)
    assert store.observer is None
