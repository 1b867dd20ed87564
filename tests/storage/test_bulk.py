"""Many small units: each atomic, each with its own outcome."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from storage import Conflict, Delete, Insert, InvalidValue, Stale, Update
from tests.storage.records import ENTRIES, TICKETS, USERS, Entry, Ticket, user


def kinds(outcomes):
    return [None if outcome is None else type(outcome) for outcome in outcomes]


async def test_each_unit_has_its_own_outcome_and_its_neighbours_are_unharmed(store):
    await store.commit(Insert(USERS, user("old")))
    outcomes = await store.commit_each(
        [
            [Insert(USERS, user("a"))],
            [Insert(USERS, user("b", login_key="old@example.com"))],
            [Insert(ENTRIES, Entry(id="c")), Insert(USERS, user("old"))],
            [Update(USERS, "gone", set={"n": 1})],
            [Insert(ENTRIES, Entry(id="d")), Update(USERS, "old", expect={"n": 5})],
            [Insert(USERS, user("\ud800"))],
            [Insert(ENTRIES, Entry(id="e")), Update(USERS, "old", increment={"n": 1})],
            [Delete(USERS, "never")],
            [Insert(USERS, user("z"))],
        ]
    )

    refused = [Conflict, Conflict, Stale, Stale, InvalidValue]
    assert kinds(outcomes) == [None, *refused, None, None, None]
    assert [r.id async for r in store.scan(USERS)] == ["a", "old", "z"]
    assert [r.id async for r in store.scan(ENTRIES)] == ["e"]
    assert (await store.get(USERS, "old")).n == 1


async def test_an_outcome_names_the_record_or_the_field(store):
    await store.commit(Insert(USERS, user("old")))
    taken, gone = await store.commit_each(
        [
            [Insert(USERS, user("b", login_key="old@example.com"))],
            [Update(USERS, "x", set={"n": 1})],
        ]
    )

    assert (taken.collection, taken.field) == ("users", "login_key")
    assert (gone.collection, gone.id) == ("users", "x")


async def test_no_units_have_no_outcomes(store):
    assert await store.commit_each([]) == []


async def test_an_empty_unit_is_refused_alone(store):
    outcomes = await store.commit_each([[], [Insert(USERS, user("a"))]])

    assert kinds(outcomes) == [InvalidValue, None]


@pytest.mark.full
@pytest.mark.parametrize("writes", [1, 2])
async def test_thousands_of_units_are_applied(store, writes):
    def unit(n):
        return [Insert(USERS, user(f"u{n}")), Insert(ENTRIES, Entry(id=f"e{n}"))][:writes]

    outcomes = await store.commit_each([unit(n) for n in range(1200)])

    assert set(outcomes) == {None}
    assert await store.count(USERS) == 1200
    assert await store.count(ENTRIES) == (1200 if writes == 2 else 0)


@pytest.mark.full
async def test_thousands_of_updates_are_applied_except_the_stale_ones(store):
    await store.commit_each([[Insert(USERS, user(f"u{n}", n=n % 2))] for n in range(1000)])
    outcomes = await store.commit_each(
        [[Update(USERS, f"u{n}", set={"note": "x"}, expect={"n": 0})] for n in range(1000)]
    )

    assert kinds(outcomes) == [None, Stale] * 500
    assert [r.n async for r in store.scan(USERS, {"note": "x"})] == [0] * 500


async def test_units_for_one_record_add_up(store):
    await store.commit(Insert(USERS, user("a")))
    outcomes = await store.commit_each([[Update(USERS, "a", increment={"n": 1})]] * 50)

    assert set(outcomes) == {None}
    assert (await store.get(USERS, "a")).n == 50


async def test_of_units_that_race_for_one_key_in_one_call_one_wins(store):
    units = [[Insert(USERS, user(f"u{n}", login_key="one"))] for n in range(20)]
    outcomes = await store.commit_each(units)

    assert sorted(kinds(outcomes), key=str).count(None) == 1
    assert await store.count(USERS) == 1


@pytest.mark.full
async def test_a_single_commit_gets_in_between(store):
    """An import of thousands must not hold up a sign-in until it has ended."""
    units = [[Insert(USERS, user(f"u{n}"))] for n in range(4000)]
    importing = asyncio.ensure_future(store.commit_each(units))
    await asyncio.sleep(0)
    await store.commit(Insert(ENTRIES, Entry(id="sign-in")))

    assert not importing.done()
    assert set(await importing) == {None}


async def test_a_unit_that_was_made_ready_ends_like_any_other(store):
    await store.commit(Insert(USERS, user("old")))
    units = [
        [Insert(USERS, user("a")), Insert(ENTRIES, Entry(id="a"))],
        [Insert(ENTRIES, Entry(id="b")), Insert(USERS, user("b", login_key="old@example.com"))],
        [Insert(USERS, user("\ud800"))],
        [Update(USERS, "old", increment={"n": 1}), Insert(ENTRIES, Entry(id="c"))],
        [Update(USERS, "gone", set={"n": 1})],
    ]
    prepare = [store.prepare(unit) for unit in units]
    assert [list(unit) for unit in prepare] == units  # they are the writes still

    outcomes = await store.commit_each([*prepare, [Insert(USERS, user("z"))]])

    assert kinds(outcomes) == [None, Conflict, InvalidValue, None, Stale, None]
    assert [r.id async for r in store.scan(USERS)] == ["a", "old", "z"]
    assert [r.id async for r in store.scan(ENTRIES)] == ["a", "c"]


async def test_many_inserts_at_once_replace_what_has_expired_and_leave_what_lives(store, clock):
    soon, late = clock.now() + timedelta(seconds=1), clock.now() + timedelta(hours=1)
    for id, until in (("t3", soon), ("t7", late)):
        await store.commit(Insert(TICKETS, Ticket(id=id, owner="old", expires_at=until)))
    clock.advance(timedelta(seconds=2))

    units = [
        [
            Insert(TICKETS, Ticket(id=f"t{n}", owner="new", expires_at=late)),
            Insert(USERS, user(f"u{n}")),
        ]
        for n in range(10)
    ]
    outcomes = await store.commit_each(units)

    assert [n for n, outcome in enumerate(outcomes) if outcome is not None] == [7]
    assert (await store.get(TICKETS, "t3")).owner == "new"
    assert (await store.get(TICKETS, "t7")).owner == "old"
    assert await store.get(USERS, "u7") is None
    assert await store.count(USERS) == 9
