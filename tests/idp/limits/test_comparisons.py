"""How many passwords from one network are compared at once."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from idp.limits import comparisons
from idp.limits.comparisons import MAX_CONCURRENT, Comparisons
from tests.support.patience import loop_turns

OFFICE, OTHER = "192.0.2.1", "192.0.2.2"


class Crowd:
    """Attempts of one network, which compare until they are let go."""

    def __init__(self, turns, network, count, **options):
        self.running, self.most, self.go = 0, 0, asyncio.Event()
        self._turns, self._network, self._options = turns, network, options
        self.tasks = [asyncio.ensure_future(self._attempt()) for _ in range(count)]

    async def _attempt(self):
        async with self._turns.turn(self._network, **self._options) as is_admitted:
            if is_admitted:
                self.running += 1
                self.most = max(self.most, self.running)
                await self.go.wait()
                self.running -= 1
            return is_admitted

    async def end(self):
        self.go.set()
        return await asyncio.gather(*self.tasks)


async def test_of_a_network_eight_are_compared_at_once_and_another_one_does_not_wait():
    turns = Comparisons()
    office = Crowd(turns, OFFICE, 20)
    await loop_turns(10)
    other = Crowd(turns, OTHER, 1)
    await loop_turns(10)

    assert (office.running, other.running) == (MAX_CONCURRENT, 1) == (8, 1)
    assert await office.end() == [True] * 20
    assert await other.end() == [True]
    assert office.most == MAX_CONCURRENT


async def test_while_no_other_network_waits_none_of_an_office_is_refused():
    turns = Comparisons()
    office = Crowd(turns, OFFICE, 200)

    assert await office.end() == [True] * 200
    assert turns._networks == {}
    assert len(turns._waiting) == 0


async def test_when_too_many_wait_the_newest_of_the_largest_network_are_refused(monkeypatch):
    monkeypatch.setattr(comparisons, "MAX_WAITING", 10)
    turns = Comparisons()
    office = Crowd(turns, OFFICE, MAX_CONCURRENT + 12)
    await loop_turns(10)
    other = Crowd(turns, OTHER, MAX_CONCURRENT + 3)
    await loop_turns(10)

    assert await office.end() == [True] * (MAX_CONCURRENT + 7) + [False] * 5
    assert await other.end() == [True] * (MAX_CONCURRENT + 3)


async def test_an_attempt_that_is_cancelled_keeps_no_turn():
    turns = Comparisons()
    office = Crowd(turns, OFFICE, MAX_CONCURRENT + 3)
    await loop_turns(10)
    office.tasks[MAX_CONCURRENT].cancel()
    office.go.set()
    await loop_turns(1)
    office.tasks[MAX_CONCURRENT + 1].cancel()
    outcomes = await asyncio.gather(*office.tasks, return_exceptions=True)

    assert outcomes[-1] is True
    assert turns._networks == {}
    assert len(turns._waiting) == 0


async def test_the_last_attempt_cancelled_as_its_turn_comes_leaves_no_network():
    turns = Comparisons()
    office = Crowd(turns, OFFICE, MAX_CONCURRENT + 1)
    await loop_turns(10)
    office.go.set()
    await loop_turns(1)
    office.tasks[-1].cancel()
    outcomes = await asyncio.gather(*office.tasks, return_exceptions=True)

    assert outcomes[:-1] == [True] * MAX_CONCURRENT
    assert isinstance(outcomes[-1], asyncio.CancelledError)
    assert turns._networks == {}


async def test_of_a_network_that_many_share_more_are_compared_at_once():
    office = Crowd(Comparisons(), OFFICE, 100, factor=4)
    await loop_turns(10)

    assert office.running == 4 * MAX_CONCURRENT
    assert await office.end() == [True] * 100


@pytest.mark.promise("overload: measured hashes")
async def test_expensive_hashes_take_no_turns_from_the_others_of_their_network():
    turns = Comparisons()
    expensive = Crowd(turns, OFFICE, MAX_CONCURRENT + 1, is_expensive=True)
    await loop_turns(10)

    async with AsyncExitStack() as taken:
        assert await taken.enter_async_context(turns.turn(OFFICE))
    assert expensive.running == MAX_CONCURRENT
    assert await expensive.end() == [True] * (MAX_CONCURRENT + 1)
    assert turns._networks == {}
