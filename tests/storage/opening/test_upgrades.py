"""A store of an older program is brought to the present one, once, whoever comes first."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from storage import (
    META,
    SCHEMA_ID,
    Schema,
    StorageError,
    TooNew,
    Unavailable,
    Update,
    UpgradeStep,
    upgrades,
)
from storage.upgrades import SIDE_BY_SIDE, upgrade, upgrade_late
from tests.storage.opening.upgrade_steps import NAMES, NEW, OLD, STEPS, UPGRADED, fill, kept
from tests.storage.records import ALL
from tests.support import patience
from tests.support.patience import until


@pytest.fixture
def filled(io_loop, store):
    io_loop.run_sync(lambda: fill(store))
    return store


async def stored_state(store):
    """What the store says about itself: version, steps done, who holds the lease."""
    record = await store.get(META, SCHEMA_ID)
    return record.version, record.done, record.holder


def never(store):
    raise AssertionError("no step is to run")


async def test_the_steps_that_are_missing_run_in_their_order_and_are_recorded(filled, clock):
    assert await stored_state(filled) == (1, [], None)

    assert await upgrade(filled, NEW, clock.now, "me") == NAMES

    assert await kept(filled) == UPGRADED
    assert await stored_state(filled) == (2, NAMES, None)


async def test_what_is_done_is_not_done_again(filled, clock):
    await upgrade(filled, Schema(2, steps=STEPS[:1]), clock.now, "me")
    more = UpgradeStep("more", STEPS[1].run)
    unlike = (UpgradeStep(NAMES[0], never), more)

    assert await upgrade(filled, Schema(3, steps=unlike), clock.now, "me") == ["more"]

    assert await kept(filled) == UPGRADED
    assert await stored_state(filled) == (3, [NAMES[0], "more"], None)


async def test_a_new_store_has_nothing_to_upgrade(backend, clock):
    store = backend.make(clock)
    await store.open(ALL, Schema(4, steps=(UpgradeStep("old", never),)))

    assert await stored_state(store) == (4, ["old"], None)
    await store.close()


LATE = UpgradeStep("late", STEPS[1].run, is_late=True)
WITH_LATE = Schema(2, steps=(STEPS[0], LATE))


def run_late(store, clock):
    return upgrade_late(store, WITH_LATE, clock.now, lambda: "me")


async def test_a_late_step_does_not_delay_the_opening_and_runs_a_day_later(filled, clock):
    assert await upgrade(filled, WITH_LATE, clock.now, "me") == NAMES[:1]
    assert await stored_state(filled) == (2, NAMES[:1], None)

    clock.advance(SIDE_BY_SIDE - timedelta(milliseconds=1))
    assert not await run_late(filled, clock)
    assert await stored_state(filled) == (2, NAMES[:1], None)
    clock.advance(timedelta(milliseconds=1))

    assert await run_late(filled, clock)
    assert await kept(filled) == UPGRADED
    assert await stored_state(filled) == (2, [NAMES[0], "late"], None)
    assert await run_late(filled, clock)


async def test_a_late_step_that_fails_is_run_again(filled, clock):
    async def broken(store):
        raise ZeroDivisionError

    failing = Schema(2, steps=(UpgradeStep("late", broken, is_late=True),))
    working = Schema(2, steps=(UpgradeStep("late", STEPS[0].run, is_late=True),))
    with pytest.raises(StorageError, match="upgrade step late failed"):
        await upgrade_late(filled, failing, clock.now, lambda: "me")

    assert await stored_state(filled) == (1, [], None)
    assert await upgrade_late(filled, working, clock.now, lambda: "me")
    assert await stored_state(filled) == (2, ["late"], None)


async def test_a_new_store_has_no_late_step_to_run(backend, clock):
    store = backend.make(clock)
    await store.open(ALL, WITH_LATE)

    assert await run_late(store, clock)
    assert await kept(store) == ([], [])
    await store.close()


@pytest.mark.full
async def test_two_that_upgrade_at_once_do_each_step_once(filled, clock):
    done = await asyncio.gather(
        *(upgrade(filled, NEW, clock.now, me) for me in ("one", "other", "third"))
    )

    assert sorted(name for names in done for name in names) == sorted(NAMES)
    assert await kept(filled) == UPGRADED


async def test_a_step_that_fails_is_named_and_run_again_from_its_beginning(filled, clock):
    async def half(store):
        await store.commit(Update(ALL[0], "u0", set={"note": "noted"}, increment={"n": 1}))
        raise ZeroDivisionError("by zero")

    with pytest.raises(StorageError, match="upgrade step notes failed: by zero"):
        await upgrade(filled, Schema(2, steps=(UpgradeStep("notes", half),)), clock.now, "me")
    assert await stored_state(filled) == (1, [], None)

    assert await upgrade(filled, NEW, clock.now, "another") == NAMES
    assert await kept(filled) == UPGRADED


async def test_a_store_that_is_away_is_no_failed_step(filled, clock):
    async def away(store):
        raise Unavailable("away")

    with pytest.raises(Unavailable):
        await upgrade(filled, Schema(2, steps=(UpgradeStep("notes", away),)), clock.now, "me")


@pytest.mark.full
async def test_who_died_holds_the_others_up_until_the_lease_ends_by_the_clock(filled, clock):
    lease = {"holder": "dead", "held_until": clock.now() + upgrades.LEASE}
    await filled.commit(Update(META, SCHEMA_ID, set=lease))
    waiting = asyncio.ensure_future(upgrade(filled, NEW, clock.now, "me"))
    clock.advance(upgrades.LEASE - timedelta(milliseconds=1))
    await asyncio.sleep(2 * upgrades.POLL_SECONDS)

    assert await stored_state(filled) == (1, [], "dead")
    clock.advance(timedelta(milliseconds=1))
    assert await waiting == NAMES
    assert await kept(filled) == UPGRADED


async def test_a_long_step_keeps_its_lease(filled, clock, monkeypatch):
    monkeypatch.setattr(upgrades, "RENEWAL_SECONDS", 0.01)
    renewed = clock.now() + 2 * upgrades.LEASE

    async def long(store):
        async def is_renewed():
            clock.advance(1)
            return (await store.get(META, SCHEMA_ID)).held_until >= renewed

        await until(is_renewed)

    schema = Schema(2, steps=(UpgradeStep("long", long),))
    assert await upgrade(filled, schema, clock.now, "me") == ["long"]


@pytest.mark.full
async def test_who_lost_the_lease_stops_and_waits_for_the_one_that_took_it(
    filled, clock, monkeypatch
):
    monkeypatch.setattr(upgrades, "RENEWAL_SECONDS", 0.01)
    cancelled = []

    async def stalled(store):
        taken = {"holder": "other", "held_until": clock.now() + upgrades.LEASE}
        await store.commit(Update(META, SCHEMA_ID, set=taken))
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)

    schema = Schema(2, steps=(UpgradeStep("notes", stalled),))
    loser = asyncio.ensure_future(upgrade(filled, schema, clock.now, "me"))
    async with asyncio.timeout(patience.SECONDS):
        await until(lambda: cancelled)
    assert await stored_state(filled) == (1, [], "other")

    assert await upgrade(filled, Schema(2, steps=STEPS[:1]), clock.now, "other") == ["notes"]
    assert await loser == []


async def test_opening_upgrades(shared, clock):
    store = shared.make(clock)
    await store.open(ALL, OLD)
    await fill(store)
    await store.close()
    store = shared.make(clock)
    await store.open(ALL, NEW)

    assert await kept(store) == UPGRADED
    assert await stored_state(store) == (2, NAMES, None)
    await store.close()


async def test_a_store_whose_upgrade_failed_stays_shut_and_keeps_its_version(shared, clock):
    async def broken(store):
        raise ZeroDivisionError

    failing = Schema(2, oldest_reader=2, steps=(UpgradeStep("broken", broken),))
    store = shared.make(clock)
    await store.open(ALL, OLD)
    await store.close()
    store = shared.make(clock)
    with pytest.raises(StorageError, match="broken"):
        await store.open(ALL, failing)

    with pytest.raises(Unavailable):
        await store.get(META, SCHEMA_ID)
    looking = shared.make(clock)
    await looking.open((), None)
    assert await stored_state(looking) == (1, [], None)
    await looking.close()


async def test_who_can_not_read_what_an_upgrade_writes_is_shut_out_before_it(shared, clock):
    store = shared.make(clock)
    await store.open(ALL, OLD)
    await store.close()
    refused = []

    async def ask(store):
        with pytest.raises(TooNew) as caught:
            await shared.make(clock).open(ALL, OLD)
        refused.append(str(caught.value))

    store = shared.make(clock)
    await store.open(ALL, Schema(2, oldest_reader=2, steps=(UpgradeStep("ask", ask),)))
    await store.close()

    (text,) = refused
    assert text.startswith(
        "the store needs a program of schema version 2 or later; this one has 1. Run that one, or"
    )
    assert "the backup that was made before the upgrade" in text


async def test_an_older_program_that_may_read_the_store_upgrades_nothing(shared, clock):
    store = shared.make(clock)
    await store.open(ALL, Schema(3, steps=STEPS))
    await store.close()
    older = shared.make(clock)
    await older.open(ALL, Schema(2, steps=(UpgradeStep(NAMES[0], never),)))

    assert await stored_state(older) == (3, NAMES, None)
    await older.close()


async def test_looking_at_a_store_that_is_too_new_writes_nothing(shared, clock):
    store = shared.make(clock)
    await store.open(ALL, Schema(9, oldest_reader=9))
    await store.close()
    looking = shared.make(clock)
    await looking.open((), None)

    assert await stored_state(looking) == (9, [], None)
    await looking.close()
