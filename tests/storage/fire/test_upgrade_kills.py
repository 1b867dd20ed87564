"""An upgrade is killed at every write, and two processes begin it at once: the same result."""

from __future__ import annotations

import asyncio
import signal
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from storage import META, SCHEMA_ID, Delete, Update, upgrades
from tests.storage.fire.kills import writers
from tests.storage.fire.writing import Order
from tests.storage.opening.upgrade_steps import NAMES, NEW, UPGRADED, WRITES, fill, kept
from tests.storage.records import ENTRIES, USERS

LATER = 2 * upgrades.LEASE


@pytest.fixture
def upgraded(store, shared):
    """Upgrade in a process of its own; how it ended and the steps that it says it has done."""

    def run(begotten, run, **order):
        asked = Order(run, shared.url, lanes=0, upgrades=True, **order)
        begotten.begin(asked)
        end = begotten.end(asked)
        said = [line.split()[1:] for line in end.said if line.startswith("upgraded")]
        return end.code, said[0] if said else None

    return run


async def made_old_again(store):
    """Version 1, as it was before the upgrade."""
    units = [[Delete(ENTRIES, one.id)] async for one in store.scan(ENTRIES)]
    units += [[Delete(USERS, one.id)] async for one in store.scan(USERS)]
    before = {"version": 1, "done": [], "holder": None, "held_until": None}
    await store.commit_each([*units, [Update(META, SCHEMA_ID, set=before)]])
    await fill(store)


@pytest.mark.load
@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_upgrade_that_was_killed_at_any_write_is_finished_by_the_next(
    store, upgraded, when, record_property
):
    kills = 0
    with writers() as begotten:
        for n in range(1, WRITES + 1):
            await made_old_again(store)
            code, _ = await asyncio.to_thread(upgraded, begotten, "first", crash=f"{when} {n}")
            kills += code == -signal.SIGKILL
            await upgrades.upgrade(store, NEW, lambda: datetime.now(UTC) + LATER, "next")

            assert await kept(store) == UPGRADED
            record = await store.get(META, SCHEMA_ID)
            assert (record.version, record.done, record.holder) == (2, NAMES, None)
    record_property("counts", f"{kills} kills of an upgrade, 0 lost, 0 done twice")
    assert kills == WRITES


async def test_of_processes_that_start_an_upgrade_at_once_each_step_is_done_by_one(
    store, upgraded
):
    await fill(store)
    with ExitStack() as stack:
        nodes = [stack.enter_context(writers()) for _ in range(2)]
        ends = await asyncio.gather(
            *(asyncio.to_thread(upgraded, node, f"node {n}") for n, node in enumerate(nodes))
        )

    assert [code for code, _ in ends] == [0, 0]
    assert sorted(name for _, names in ends for name in names) == sorted(NAMES)
    assert await kept(store) == UPGRADED
