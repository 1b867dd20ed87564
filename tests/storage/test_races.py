"""Exactly one winner, over two processes: what codes, tokens and login names rely on."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from storage import Insert, Stale, Update
from tests.storage.contests import add, claim, register, tally
from tests.storage.records import ENTRIES, USERS, Entry, user

ROUNDS = [
    pytest.param(10, id="10 rounds", marks=pytest.mark.gen_test(timeout=60)),
    pytest.param(
        200, id="200 rounds", marks=[pytest.mark.load, pytest.mark.gen_test(timeout=600)]
    ),
]


async def test_of_concurrent_conditional_updates_one_wins(store):
    await store.commit(Insert(USERS, user("a")))

    assert await claim(store, "a") == 1


async def test_of_concurrent_inserts_of_one_unique_key_one_wins_with_its_whole_unit(store):
    assert await register(store, "ann", "here") == 1

    assert await store.count(USERS) == await store.count(ENTRIES) == 1


async def test_no_concurrent_increment_is_lost(store):
    await store.commit(Insert(USERS, user("a")))

    assert await add(store, "a", "50") == 50

    assert (await store.get(USERS, "a")).n == 50


async def test_units_that_guard_and_falsify_each_other_have_one_winner(store):
    """A sign-in guards the session that a logout ends: one of them must be told."""
    for n in range(10):
        await store.commit(Insert(USERS, user(f"{n}")), Insert(ENTRIES, Entry(id=f"{n}")))
        live = {"is_active": True}
        outcomes = await asyncio.gather(
            store.commit(
                Update(USERS, f"{n}", expect=live),
                Update(ENTRIES, f"{n}", set={"text": "signed in"}, expect={"text": ""}),
            ),
            store.commit(
                Update(USERS, f"{n}", set={"is_active": False}, expect=live),
                Update(ENTRIES, f"{n}", set={"text": "logged out"}, expect={"text": ""}),
            ),
            return_exceptions=True,
        )

        assert sorted(type(o) for o in outcomes if o is not None) == [Stale]
        kept = (await store.get(USERS, f"{n}")).is_active, (await store.get(ENTRIES, f"{n}")).text
        assert kept in ((True, "signed in"), (False, "logged out"))


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_of_32_writers_in_two_processes_one_wins(store, second_process, rounds):
    async with second_process() as ask:
        for n in range(rounds):
            await store.commit(Insert(USERS, user(f"u{n}")))
            theirs, ours = await asyncio.gather(ask(f"claim u{n}"), claim(store, f"u{n}"))

            assert (int(theirs), ours) in ((0, 1), (1, 0))


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_of_32_registrations_in_two_processes_one_wins(store, second_process, rounds):
    async with second_process() as ask:
        for n in range(rounds):
            theirs, ours = await asyncio.gather(
                ask(f"register k{n} there"), register(store, f"k{n}", "here")
            )

            assert (int(theirs), ours) in ((0, 1), (1, 0))
    assert await store.count(USERS) == await store.count(ENTRIES) == rounds


async def test_increments_of_two_processes_add_up(store, second_process):
    await store.commit(Insert(USERS, user("a")))
    async with second_process() as ask:
        await asyncio.gather(ask("add a 200"), add(store, "a", "200"))
        await asyncio.gather(ask("tally t 50"), tally(store, "t", "50"))

    assert (await store.get(USERS, "a")).n == 400
    assert (await store.increment("t", 0, window=timedelta(hours=1))).n == 100
