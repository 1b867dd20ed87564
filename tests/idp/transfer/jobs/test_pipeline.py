"""Batches at several desks: judged side by side, stored one after the other in their order."""

from __future__ import annotations

import asyncio

import pytest

from idp.transfer.jobs import pipeline as job_pipeline
from idp.transfer.package.rows import Row
from storage import Unavailable
from tests.support.patience import loop_turns


class Watched:
    """A desk that notes what it does, and takes a moment for it."""

    def __init__(self, name, log, *, fails_at=None):
        self.name, self._log, self._fails_at, self._rows = name, log, fails_at, None

    async def plan(self, rows):
        self._rows = rows
        self._note("judges")
        await loop_turns(20)
        self._note("judged")

    async def store(self):
        self._note("stores")
        await loop_turns(20)
        if self._rows[0].number == self._fails_at:
            raise Unavailable("gone")
        self._note("stored")
        return asyncio.ensure_future(self._tell([row.number for row in self._rows]))

    async def _tell(self, numbers):
        await loop_turns(20)
        self._log.append(("told", numbers[0]))
        return numbers

    def _note(self, what):
        self._log.append((what, self._rows[0].number))


def batches(*members):
    return [[Row(number=n, path="", member=each, org_id="o")] for n, each in enumerate(members, 1)]


def following(rows):
    waiting = iter(rows)

    async def next_batch():
        return next(waiting, None)

    return next_batch


def at(log, what):
    return [number for done, number in log if done == what]


async def test_batches_are_planned_side_by_side_and_stored_in_their_order():
    log = []
    line = job_pipeline.processed_batches(
        [Watched(n, log) for n in "abc"], following(batches(*["humanUsers"] * 7))
    )

    assert [await each async for each in line] == [[n] for n in range(1, 8)]
    assert at(log, "stored") == list(range(1, 8))
    assert log.index(("judges", 3)) < log.index(("judged", 1))
    stores = [done for done, _ in log if done in ("stores", "stored")]
    assert stores == ["stores", "stored"] * 7  # one at a time


async def test_a_batch_is_stored_when_what_became_of_the_last_one_was_taken():
    log = []
    line = job_pipeline.processed_batches(
        [Watched(n, log) for n in "ab"], following(batches(*["humanUsers"] * 4))
    )
    async for telling in line:
        (number,) = await telling
        await loop_turns(200)
        assert at(log, "stores") == list(range(1, number + 1))


async def test_a_batch_is_stored_while_the_last_one_is_reported():
    log = []
    line = job_pipeline.processed_batches(
        [Watched(n, log) for n in "ab"], following(batches(*["humanUsers"] * 3))
    )
    tellings = [telling async for telling in line]

    assert [await each for each in tellings] == [[1], [2], [3]]
    assert log.index(("stores", 2)) < log.index(("told", 1))


async def test_nothing_is_planned_before_what_it_may_refer_to_is_stored():
    log, members = [], ["org", "humanUsers", "humanUsers", "userGrants", "userGrants"]
    line = job_pipeline.processed_batches(
        [Watched(n, log) for n in "abc"], following(batches(*members))
    )
    [_ async for _ in line]

    assert log.index(("stored", 1)) < log.index(("judges", 2))
    assert log.index(("judges", 3)) < log.index(("judged", 2))
    assert log.index(("stored", 3)) < log.index(("judges", 4))


async def test_behind_a_batch_that_could_not_be_stored_none_is():
    log = []
    line = job_pipeline.processed_batches(
        [Watched(n, log, fails_at=2) for n in "abc"], following(batches(*["humanUsers"] * 5))
    )
    assert await (await anext(line)) == [1]
    with pytest.raises(Unavailable):
        await anext(line)

    assert at(log, "stores") == [1, 2]
    assert at(log, "judges") == at(log, "judged")  # no desk is left with something under way


async def test_who_leaves_early_leaves_nothing_under_way():
    log = []
    line = job_pipeline.processed_batches(
        [Watched(n, log) for n in "ab"], following(batches(*["humanUsers"] * 5))
    )
    await anext(line)
    await line.aclose()

    assert at(log, "stored") == at(log, "told") == [1]
    assert at(log, "judges") == at(log, "judged")


async def test_workers_come_and_go_meanwhile():
    log = []
    places = [Watched("a", log)]
    line = job_pipeline.processed_batches(places, following(batches(*["humanUsers"] * 6)))
    assert await (await anext(line)) == [1]
    places.append(Watched("b", log))
    assert [await (await anext(line)) for _ in range(2)] == [[2], [3]]
    del places[0]

    assert [await each async for each in line] == [[4], [5], [6]]
