"""Opening, closing, cancelled callers and lost answers."""

from __future__ import annotations

import asyncio

import pytest

from storage import (
    META,
    Collection,
    Delete,
    Insert,
    InvalidValue,
    Record,
    Schema,
    TooNew,
    Unavailable,
    Update,
)
from tests.storage.records import ALL, USERS, Entry, later, user
from tests.support.patience import until


async def test_close_answers_what_is_queued_and_refuses_what_is_new(shared, clock):
    store = shared.make(clock)
    await store.open(ALL)
    queued = [asyncio.ensure_future(store.commit(Insert(USERS, user(f"u{n}")))) for n in range(50)]
    await asyncio.sleep(0)
    await asyncio.gather(store.close(), store.close())

    assert await asyncio.gather(*queued) == [None] * 50
    with pytest.raises(Unavailable):
        await store.commit(Insert(USERS, user("late")))
    again = shared.make(clock)
    await again.open(ALL)
    assert await again.count(USERS) == 50
    await again.close()


async def test_close_may_be_repeated(store):
    await store.close()
    await store.close()

    with pytest.raises(Unavailable):
        await store.ping()


async def test_a_closed_store_is_unavailable_for_everything(store):
    await store.close()
    for attempt in (
        store.ping,
        lambda: store.get(USERS, "a"),
        lambda: store.get_many([(USERS, "a")]),
        lambda: store.find(USERS),
        lambda: store.count(USERS),
        lambda: store.commit(Insert(USERS, user("a"))),
        lambda: store.increment("k", window=later(1) - later(0)),
    ):
        with pytest.raises(Unavailable):
            await attempt()
    assert [type(o) for o in await store.commit_each([[Delete(USERS, "a")]])] == [Unavailable]


async def test_an_open_store_answers_a_ping(store):
    assert await store.ping() is None


async def test_what_was_committed_is_there_after_reopening(shared, clock):
    for n in range(3):
        store = shared.make(clock)
        await store.open(ALL)
        await store.commit(Insert(USERS, user(f"u{n}")))
        await store.close()
    store = shared.make(clock)
    await store.open(ALL)
    assert await store.count(USERS) == 3
    await store.close()


async def test_two_stores_open_side_by_side_see_each_others_writes(store, shared, clock):
    other = shared.make(clock)
    await other.open(ALL)
    await other.commit(Insert(USERS, user("a")))

    assert await store.get(USERS, "a") == user("a")
    await store.commit(Update(USERS, "a", set={"n": 1}))
    assert (await other.get(USERS, "a")).n == 1
    await other.close()


async def test_a_cancelled_caller_withdraws_nothing(store):
    committing = asyncio.ensure_future(store.commit(Insert(USERS, user("a"))))
    await asyncio.sleep(0)
    committing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await committing

    assert await until(lambda: store.get(USERS, "a")) == user("a")


async def test_cancelled_callers_leave_the_store_to_the_others(store):
    tasks = [asyncio.ensure_future(store.commit(Insert(USERS, user(f"u{n}")))) for n in range(40)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await store.commit(Insert(USERS, user("after")))

    met = {record.id async for record in store.scan(USERS)}
    assert {"after", *(f"u{n}" for n in range(1, 40, 2))} <= met


async def test_a_list_that_is_declared_later_finds_what_is_there(shared, clock):
    class Plain(Record):
        kind: str = "k"

    before, after = (
        Collection("growing", Plain),
        Collection("growing", Plain, lists=(("kind", "id"),)),
    )
    for collection in (before, after):
        store = shared.make(clock)
        await store.open([collection])
        await store.commit(Insert(collection, Plain(id=f"{len(collection.lists)}")))
        if collection is after:
            page = await store.find(after, {"kind": "k"}, order="id")
            assert [record.id for record in page.records] == ["0", "1"]
        await store.close()


async def test_a_store_of_a_newer_program_is_refused_only_below_its_oldest_reader(shared, clock):
    async def opened(version, oldest_reader):
        store = shared.make(clock)
        await store.open(ALL, Schema(version, oldest_reader))
        await store.close()

    async def kept():
        store = shared.make(clock)
        await store.open(ALL, Schema(9, 1))
        record = await store.get(META, "schema")
        await store.close()
        return record.oldest_reader, record.version

    await opened(1, 1)
    await opened(5, 3)
    await opened(3, 1)
    assert await kept() == (3, 9)
    with pytest.raises(TooNew):
        await opened(2, 1)
    await opened(4, 4)
    with pytest.raises(TooNew):
        await opened(3, 3)


@pytest.mark.parametrize(
    "collection",
    [
        Collection("users", type(user("a")), unique=("surname",)),
        Collection("users", type(user("a")), lists=(("org_id", "surname"),)),
        Collection("users", type(user("a")), lists=(("org_id",),), narrowed=(("org_id", "n"),)),
        Collection("users", type(user("a")), lists=(("n",),), narrowed=(("org_id", "n"),)),
        Collection("users", type(user("a")), lists=(("n",),), narrowed=((),)),
        Collection("users", type(user("a")), lists=(("n",),), narrowed=(("n", "n"),)),
        Collection("users", type(user("a")), lists=(("n",), ("id", "n")), narrowed=(("id", "n"),)),
        Collection("entries", Entry, expires=True),
    ],
)
async def test_a_declaration_that_can_not_be_stored_is_refused(backend, clock, collection):
    store = backend.make(clock)
    with pytest.raises(InvalidValue):
        await store.open([collection])
    await store.close()
