"""A store over another one: below nothing changes, and above everything is seen."""

from __future__ import annotations

import random
import uuid
from datetime import timedelta

import pytest

from storage import (
    MAX_ID_CHARACTERS,
    Collection,
    Conflict,
    Delete,
    Insert,
    Record,
    StartsWith,
    Update,
    open_store,
)
from storage.overlay import Overlay
from tests.storage.records import ALL, ENTRIES, USERS, Entry, later, user

HOUR = timedelta(hours=1)


def below():
    """Nine users of two organizations, three at each instant."""
    return [
        user(f"u{n}", org_id=f"org-{n % 2}", created_at=later(n // 3), note="below")
        for n in range(9)
    ]


@pytest.fixture
def upper(clock):
    return open_store("memory://", now=clock.now, new_id=lambda: uuid.uuid4().hex)


@pytest.fixture
def overlay(io_loop, store, upper):
    """An overlay over each of the back ends, which holds something."""
    overlay = Overlay(store, upper)
    io_loop.run_sync(lambda: store.commit_each([[Insert(USERS, each)] for each in below()]))
    io_loop.run_sync(lambda: store.increment("tries", 3, window=HOUR))
    io_loop.run_sync(lambda: overlay.open(ALL))
    yield overlay
    io_loop.run_sync(overlay.close)


async def everything(store):
    return [[record async for record in store.scan(collection)] for collection in ALL]


async def test_what_is_gone_above_and_had_no_text_is_not_missing_in_a_count(clock, upper):
    class Named(Record):
        name: str | None = None

    named = Collection("named", Named, lists=(("name",),))
    store = open_store("memory://", now=clock.now, new_id=lambda: uuid.uuid4().hex)
    overlay = Overlay(store, upper)
    await store.open([named])
    await overlay.open([named])
    await store.commit(Insert(named, Named(id="a")), Insert(named, Named(id="b", name="None")))
    await overlay.commit(Delete(named, "a"))

    assert await overlay.count(named, {"name": StartsWith("No")}) == 1
    await overlay.close()
    await store.close()


async def test_nothing_below_changes_whatever_is_done_above(overlay, store):
    before = await everything(store)
    await overlay.commit(Update(USERS, "u1", set={"note": "above"}), Delete(USERS, "u2"))
    await overlay.commit_each(
        [[Insert(USERS, user("new"))], [Delete(USERS, "u3")], [Insert(USERS, user("u3"))]]
    )
    await overlay.increment("tries", window=HOUR)
    await overlay.reset("tries")

    assert await everything(store) == before
    assert (await store.increment("tries", window=HOUR)).n == 4
    assert [each.id async for each in overlay.scan(USERS)] == [
        *("new", "u0", "u1", "u3", "u4", "u5", "u6", "u7", "u8")
    ]
    assert (await overlay.get(USERS, "u1")).note == "above"
    assert (await overlay.get(USERS, "u3")).note is None


async def test_an_overlay_lets_go_of_what_is_its_own_only(overlay, store):
    await overlay.ping()
    await overlay.close()

    assert (await store.get(USERS, "u1")).note == "below"


async def test_ids_and_keys_below_are_taken_until_they_are_free_above(overlay):
    taken = [
        [Insert(USERS, user("u1", login_key="free"))],
        [Insert(USERS, user("new", login_key="u1@example.com"))],
        [Update(USERS, "u2", set={"login_key": "u1@example.com"})],
    ]
    outcomes = await overlay.commit_each(taken)
    assert [(type(each), each.field) for each in outcomes] == [
        (Conflict, "id"),
        (Conflict, "login_key"),
        (Conflict, "login_key"),
    ]

    await overlay.commit(
        Delete(USERS, "u1"), Insert(USERS, user("new", login_key="u1@example.com"))
    )
    await overlay.commit(Update(USERS, "u2", set={"login_key": "other"}))
    assert await overlay.commit_each(
        [[Insert(USERS, user("u1", login_key="u2@example.com"))]]
    ) == [None]


async def test_a_record_may_be_given_its_own_key_again(overlay):
    await overlay.commit(Update(USERS, "u1", set={"login_key": "u1@example.com", "n": 1}))

    assert (await overlay.get(USERS, "u1")).n == 1


async def test_counters_go_on_from_where_they_are_below(overlay):
    assert (await overlay.increment("tries", window=HOUR)).n == 4
    assert (await overlay.increment("tries", window=HOUR)).n == 5
    assert (await overlay.increment("other", window=HOUR)).n == 1


@pytest.mark.parametrize("limit", [1, 2, 4, 50])
@pytest.mark.parametrize("descending", [False, True])
async def test_pages_go_through_both_in_one_order(overlay, limit, descending):
    await overlay.commit(Delete(USERS, "u4"), Update(USERS, "u0", set={"created_at": later(7)}))
    await overlay.commit(Insert(USERS, user("a", org_id="org-0", created_at=later(1))))
    found, after = [], None
    while True:
        page = await overlay.find(
            USERS,
            {"org_id": "org-0"},
            order="created_at",
            descending=descending,
            limit=limit,
            after=after,
        )
        found += [each.id for each in page.records]
        after = page.after
        if after is None:
            break

    assert found == ["u2", "a", "u6", "u8", "u0"][:: -1 if descending else 1]


@pytest.mark.parametrize("most", [1, 2, 3, 9])
async def test_many_values_find_the_first_records_of_both(overlay, most):
    """Below, the first of them are gone."""
    await overlay.commit(*(Delete(USERS, f"u{n}") for n in (0, 2, 4)))
    await overlay.commit(Insert(USERS, user("a", org_id="org-1", created_at=later(1))))
    found = await overlay.find_each(USERS, "org_id", ["org-0", "org-1", "org-2"], most)

    assert {value: [each.id for each in records] for value, records in found.items()} == {
        "org-0": ["u6", "u8"][:most],
        "org-1": ["u1", "a", "u3", "u5", "u7"][:most],
    }


async def test_a_count_counts_each_once(overlay):
    await overlay.commit(Delete(USERS, "u4"), Update(USERS, "u0", set={"org_id": "org-1"}))
    await overlay.commit(Insert(USERS, user("a", org_id="org-0")))

    assert await overlay.count(USERS) == 9
    assert await overlay.count(USERS, {"org_id": "org-0"}) == 4
    assert await overlay.count(USERS, {"org_id": "org-1"}) == 5
    assert await overlay.count(USERS, up_to=3) == 3


async def test_an_id_as_long_as_may_be_is_shadowed_too(overlay, store):
    long = "x" * MAX_ID_CHARACTERS
    await store.commit(Insert(ENTRIES, Entry(id=long)))
    await overlay.commit(Delete(ENTRIES, long))

    assert await overlay.get(ENTRIES, long) is None
    assert [each async for each in overlay.scan(ENTRIES)] == []
    assert await store.get(ENTRIES, long) is not None


async def test_what_others_write_below_is_seen_unless_it_is_covered(overlay, store):
    await overlay.commit(Update(USERS, "u1", set={"n": 1}))
    await store.commit(Update(USERS, "u1", set={"n": 5}), Insert(USERS, user("later")))
    await store.commit(Insert(ENTRIES, Entry(id="e", text="below")))

    assert (await overlay.get(USERS, "u1")).n == 1
    assert (await overlay.get(USERS, "later")) == user("later")
    assert (await overlay.get(ENTRIES, "e")).text == "below"


async def test_any_units_end_as_on_a_store_that_holds_all_of_it(io_loop, overlay, clock):
    """Random units, also many at once, beside the same on a single store."""
    single = open_store("memory://", now=clock.now, new_id=lambda: uuid.uuid4().hex)
    await single.open(ALL)
    await single.commit_each([[Insert(USERS, each)] for each in below()])
    chance = random.Random(7)

    def unit():
        id, key = f"u{chance.randrange(14)}", f"u{chance.randrange(14)}@example.com"
        return chance.choice(
            [
                [Insert(USERS, user(id, login_key=key, org_id="org-1"))],
                [Update(USERS, id, set={"login_key": key, "created_at": later(chance.random())})],
                [Update(USERS, id, increment={"n": 1}, expect={"note": "below"})],
                [Delete(USERS, id)],
                [Delete(USERS, id), Insert(USERS, user(id + "-2", login_key=key))],
                [Delete(USERS, id, expect={"n": 1})],
            ]
        )

    for _ in range(12):
        units = [unit() for _ in range(chance.randrange(1, 9))]
        outcomes = await overlay.commit_each(units)
        expected = await single.commit_each(units)
        assert [type(each) for each in outcomes] == [type(each) for each in expected]
        assert await everything(overlay) == await everything(single)
    await single.close()
