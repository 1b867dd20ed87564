"""MongoDB: which reads share a command, and that none waits for one that hangs."""

from __future__ import annotations

import asyncio

import pytest

from storage.mongo import reads
from storage.mongo.reads import SharedReads
from tests.support import patience
from tests.support.patience import until


class Held:
    """A driver whose answers wait until they are released."""

    shares_commands = True

    def __init__(self):
        self.asked = []
        self.release = asyncio.Event()

    async def find(self, name, filter, **_):
        self.asked.append(filter["_id"])
        await self.release.wait()
        ids = filter["_id"]["$in"] if isinstance(filter["_id"], dict) else [filter["_id"]]
        return [{"_id": id} for id in ids]


async def begun(driver, commands):
    """Return when so many commands are under way."""
    async with asyncio.timeout(patience.SECONDS):
        await until(lambda: len(driver.asked) >= commands)


def asking(shared, *ids):
    return [asyncio.ensure_future(shared.fetch([("users", id)])) for id in ids]


async def test_reads_that_come_while_a_command_is_under_way_share_the_next(monkeypatch):
    monkeypatch.setattr(reads, "MAX_WAIT_SECONDS", 60)
    driver = Held()
    shared = SharedReads(driver)
    askers = asking(shared, "first")
    await begun(driver, 1)
    for id in "abc":
        askers += asking(shared, id)
        await asyncio.sleep(0)
    driver.release.set()
    found = await asyncio.gather(*askers)

    assert driver.asked == ["first", {"$in": ["a", "b", "c"]}]
    assert [("users", id) in each for id, each in zip("abc", found[1:], strict=True)] == [True] * 3


async def test_a_command_that_hangs_holds_back_no_later_read():
    driver = Held()
    shared = SharedReads(driver)
    hanging = asking(shared, "first")
    await begun(driver, 1)
    later = asking(shared, "second")
    await begun(driver, 2)

    assert driver.asked == ["first", "second"]

    driver.release.set()
    await asyncio.gather(*hanging, *later)


@pytest.mark.full
async def test_no_more_than_two_commands_are_under_way():
    driver = Held()
    shared = SharedReads(driver)
    askers = []
    for n, id in enumerate("ab", start=1):
        askers += asking(shared, id)
        await begun(driver, n)
    askers += asking(shared, "c")
    await asyncio.sleep(10 * reads.MAX_WAIT_SECONDS)

    assert len(driver.asked) == 2

    driver.release.set()
    await asyncio.gather(*askers)
    assert driver.asked == ["a", "b", "c"]


@pytest.mark.parametrize("askers", [1, 5])
async def test_what_waits_is_asked_for_as_soon_as_an_answer_is_there(monkeypatch, askers):
    monkeypatch.setattr(reads, "MAX_WAIT_SECONDS", 60)
    driver = Held()
    driver.release.set()
    shared = SharedReads(driver)
    for _ in range(3):
        found = await asyncio.gather(*asking(shared, *map(str, range(askers))))

        assert all(each for each in found)
