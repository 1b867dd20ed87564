"""Reads of many records: one round trip, scans in constant memory, snapshots."""

from __future__ import annotations

import asyncio
import tracemalloc

import pytest

from storage import Delete, Insert, InvalidValue, Update
from tests.storage.records import ENTRIES, TICKETS, USERS, Entry, later, user
from tests.storage.turning import turns
from tests.support.patience import loop_turns


async def fill(store, collection, records):
    outcomes = await store.commit_each([[Insert(collection, record)] for record in records])
    assert set(outcomes) == {None}


async def test_get_many_answers_in_the_order_of_its_keys(store):
    await fill(store, USERS, [user("a"), user("b")])
    await fill(store, ENTRIES, [Entry(id="a", text="entry")])
    keys = [(ENTRIES, "a"), (USERS, "b"), (USERS, "x"), (TICKETS, "a"), (USERS, "a"), (USERS, "b")]

    assert await store.get_many(keys) == [
        Entry(id="a", text="entry"),
        user("b"),
        None,
        None,
        user("a"),
        user("b"),
    ]
    assert await store.get_many([]) == []


async def test_get_many_over_collections_is_one_round_trip(store, backend):
    await fill(store, USERS, [user(f"u{n}") for n in range(5)])
    keys = [(USERS, f"u{n}") for n in range(9)] + [(ENTRIES, "e"), (TICKETS, "t")]
    with backend.counted(store) as trips:
        await store.get_many(keys)

        assert trips() == 1


async def test_get_many_takes_hundreds_of_keys(store):
    await fill(store, USERS, [user(f"u{n}") for n in range(250)])
    found = await store.get_many([(USERS, f"u{n}") for n in range(300)])

    assert [record and record.id for record in found] == [f"u{n}" for n in range(250)] + [
        None
    ] * 50


async def test_what_was_written_is_read_at_once_every_way(store):
    for n in range(20):
        await store.commit(Insert(USERS, user(f"u{n:02}")))

        assert await store.get(USERS, f"u{n:02}") == user(f"u{n:02}")
        assert (await store.get_many([(USERS, f"u{n:02}")]))[0] == user(f"u{n:02}")
        assert len((await store.find(USERS)).records) == await store.count(USERS) == n + 1


async def test_a_scan_meets_every_record_once_in_the_order_of_ids(store):
    await fill(store, USERS, [user(f"u{n:04}") for n in range(700)])
    met = [record.id async for record in store.scan(USERS)]

    assert met == [f"u{n:04}" for n in range(700)]


async def test_a_scan_meets_what_lasts_once_while_others_write(store):
    await fill(store, USERS, [user(f"u{n:04}") for n in range(700)])
    met = []
    async for record in store.scan(USERS):
        met.append(record.id)
        if len(met) % 100 == 0:
            await store.commit(
                Delete(USERS, record.id),
                Insert(USERS, user(f"a{len(met)}")),
                Insert(USERS, user(f"z{len(met)}")),
            )

    assert [id for id in met if id.startswith("u")] == [f"u{n:04}" for n in range(700)]
    assert len(set(met)) == len(met)


async def test_a_scan_filters_by_any_top_level_field(store):
    await fill(
        store, USERS, [user(f"u{n}", n=n % 2, note="x" if n > 5 else None) for n in range(9)]
    )

    assert [r.id async for r in store.scan(USERS, {"n": 1})] == ["u1", "u3", "u5", "u7"]
    assert [r.id async for r in store.scan(USERS, {"n": 0, "note": "x"})] == ["u6", "u8"]
    assert [r.id async for r in store.scan(USERS, {"note": None, "n": 1})] == ["u1", "u3", "u5"]
    assert [r async for r in store.scan(USERS, {"created_at": later(1)})] == []


async def test_a_scan_finds_the_one_match_behind_thousands_of_others(store):
    await fill(store, ENTRIES, [Entry(id=f"e{n:04}") for n in range(1600)])
    await store.commit(Update(ENTRIES, "e1599", set={"text": "x"}))

    assert [r.id async for r in store.scan(ENTRIES, {"text": "x"})] == ["e1599"]


@pytest.mark.full
async def test_a_scan_holds_little_of_a_large_collection_in_memory(store):
    megabyte = 1_000_000
    for n in range(90):
        await store.commit(Insert(ENTRIES, Entry(id=f"e{n:02}", text="x" * megabyte)))
    tracemalloc.start()
    met = 0
    async for _ in store.scan(ENTRIES):
        met += 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert met == 90
    assert peak < 60 * megabyte  # a MongoDB driver holds a 16 MB answer three times


async def test_a_scan_by_an_unknown_or_dotted_field_is_refused(store):
    for where in ({"surname": "x"}, {"profile.name": "x"}):
        with pytest.raises(InvalidValue):
            _ = [record async for record in store.scan(USERS, where)]


async def test_a_scan_that_is_left_early_harms_nobody(store):
    await fill(store, USERS, [user(f"u{n:04}") for n in range(700)])
    async for _ in store.scan(USERS):
        break
    await store.commit(Insert(USERS, user("x")))

    assert await store.count(USERS) == 701


@pytest.mark.full
async def test_the_loop_turns_while_a_scan_finds_nothing(store):
    await fill(store, ENTRIES, [Entry(id=f"e{n:05}", text="x" * 200) for n in range(5000)])
    with turns() as turned:
        assert [r async for r in store.scan(ENTRIES, {"text": "none"})] == []

        assert turned() > 5


async def test_a_snapshot_is_one_state_while_writers_go_on(store):
    await fill(store, USERS, [user(f"u{n}") for n in range(10)])
    async with store.snapshot() as view:
        await store.commit(Insert(USERS, user("v")), Insert(ENTRIES, Entry(id="e")))
        await store.commit(Update(USERS, "u1", set={"note": "later"}), Delete(USERS, "u2"))

        assert [r async for r in view.scan(USERS)] == [user(f"u{n}") for n in range(10)]
        assert await view.get(USERS, "u1") == user("u1")
        assert await view.get_many([(USERS, "u2"), (ENTRIES, "e")]) == [user("u2"), None]
        assert await view.count(USERS) == 10
        page = await view.find(USERS, {"org_id": "org"}, order="login_key")
        assert len(page.records) == 10
    assert (await store.get(USERS, "u1")).note == "later"


async def test_a_snapshot_never_shows_half_a_unit(store):
    await store.commit(Insert(USERS, user("a")), Insert(USERS, user("b")))
    is_over = False

    async def write():
        while not is_over:
            await store.commit(
                Update(USERS, "a", increment={"n": 1}), Update(USERS, "b", increment={"n": 1})
            )

    writing = asyncio.ensure_future(write())
    for _ in range(20):
        async with store.snapshot() as view:
            a = await view.get(USERS, "a")
            await loop_turns(5)
            b = await view.get(USERS, "b")
        assert a.n == b.n
    is_over = True
    await writing


async def test_two_snapshots_stand_side_by_side(store):
    async with store.snapshot() as before:
        assert await before.get(USERS, "a") is None
        await store.commit(Insert(USERS, user("a")))
        async with store.snapshot() as after:
            assert await after.get(USERS, "a") == user("a")
            assert await before.get(USERS, "a") is None
