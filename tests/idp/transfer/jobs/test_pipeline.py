"""Batches of a package: one is planned while the one before it is stored, in their order."""

from __future__ import annotations

import pytest

from idp.transfer.jobs import pipeline as job_pipeline
from idp.transfer.package.rows import Row
from storage import Unavailable
from tests.support.patience import loop_turns


class Watched:
    """Stands for the processing of batches: notes what it does, and takes a moment for it."""

    def __init__(self, log, fails_at):
        self._log, self._fails_at = log, fails_at

    async def plan(self, _, rows):
        self._note("judges", rows)
        await loop_turns(20)
        self._note("judged", rows)
        return rows

    async def store(self, _, rows):
        self._note("stores", rows)
        await loop_turns(20)
        if rows[0].number == self._fails_at:
            raise Unavailable("gone")
        self._note("stored", rows)

    async def outcomes(self, rows, _):
        await loop_turns(20)
        self._note("told", rows)
        return [row.number for row in rows]

    def _note(self, what, rows):
        self._log.append((what, rows[0].number))


@pytest.fixture
def processed(monkeypatch):
    """A function that returns the pipeline of batches of these members, and its log."""

    def processed(*members, fails_at=None):
        log = []
        monkeypatch.setattr(job_pipeline, "job_batches", Watched(log, fails_at))
        return job_pipeline.processed_batches(None, following(batches(*members))), log

    return processed


def batches(*members):
    return [[Row(number=n, path="", member=each, org_id="o")] for n, each in enumerate(members, 1)]


def following(rows):
    waiting = iter(rows)

    async def next_batch():
        return next(waiting, None)

    return next_batch


def at(log, what):
    return [number for done, number in log if done == what]


async def test_batches_are_stored_in_their_order_and_the_next_is_planned_meanwhile(processed):
    line, log = processed(*["humanUsers"] * 7)

    assert [await each async for each in line] == [[n] for n in range(1, 8)]
    assert at(log, "stored") == list(range(1, 8))
    assert log.index(("judges", 2)) < log.index(("stored", 1))
    stores = [done for done, _ in log if done in ("stores", "stored")]
    assert stores == ["stores", "stored"] * 7  # one at a time


async def test_a_batch_is_stored_when_what_became_of_the_last_one_was_taken(processed):
    line, log = processed(*["humanUsers"] * 4)
    async for telling in line:
        (number,) = await telling
        await loop_turns(200)
        assert at(log, "stores") == list(range(1, number + 1))


async def test_no_more_than_one_batch_is_planned_in_advance(processed):
    line, log = processed(*["humanUsers"] * 4)
    async for telling in line:
        (number,) = await telling
        await loop_turns(200)
        assert max(at(log, "judges")) <= number + 1


async def test_a_batch_is_stored_while_the_last_one_is_reported(processed):
    line, log = processed(*["humanUsers"] * 3)
    tellings = [telling async for telling in line]

    assert [await each for each in tellings] == [[1], [2], [3]]
    assert log.index(("stores", 2)) < log.index(("told", 1))


async def test_nothing_is_planned_before_what_it_may_refer_to_is_stored(processed):
    line, log = processed("org", "humanUsers", "humanUsers", "userGrants", "userGrants")
    [_ async for _ in line]

    assert log.index(("stored", 1)) < log.index(("judges", 2))
    assert log.index(("judges", 3)) < log.index(("stored", 2))
    assert log.index(("stored", 3)) < log.index(("judges", 4))


async def test_behind_a_batch_that_could_not_be_stored_none_is(processed):
    line, log = processed(*["humanUsers"] * 5, fails_at=2)
    assert await (await anext(line)) == [1]
    with pytest.raises(Unavailable):
        await anext(line)

    assert at(log, "stores") == [1, 2]
    assert at(log, "judges") == at(log, "judged")  # nothing is left under way


async def test_who_leaves_early_leaves_nothing_under_way(processed):
    line, log = processed(*["humanUsers"] * 5)
    await anext(line)
    await line.aclose()

    assert at(log, "stored") == at(log, "told") == [1]
    assert at(log, "judges") == at(log, "judged")


async def test_a_package_without_rows_has_no_batches(processed):
    line, log = processed()

    assert [_ async for _ in line] == log == []
