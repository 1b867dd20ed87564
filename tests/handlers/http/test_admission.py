"""The places of a group: who takes one, who waits, and who is refused."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handlers.http.admission import ClientLeft, Group, GroupPlaces, Shed
from tests.support.random import SeededRandom

GROUP = Group("pages", at_once=2, waiting=4, longest_wait_seconds=2)


class Timers:
    """Timers of a clock that a test advances."""

    def __init__(self):
        self.now = 0.0
        self.set = []

    def call_later(self, seconds, function):
        timer = Timer(self.now + seconds, function)
        self.set.append(timer)
        return timer

    def advance(self, seconds):
        self.now += seconds
        due = [timer for timer in self.set if timer.at <= self.now]
        self.set = [timer for timer in self.set if timer.at > self.now]
        for timer in due:
            timer.run()


class Timer:
    def __init__(self, at, function):
        self.at = at
        self.run = function

    def cancel(self):
        self.run = lambda: None


@pytest.fixture
def timers():
    return Timers()


@pytest.fixture
def places(timers):
    return GroupPlaces(GROUP, SeededRandom(), timers.call_later)


def enter(places, *networks):
    return [places.enter(network) for network in networks]


async def test_a_free_place_is_taken_at_once(places):
    first, second = enter(places, "a", "a")

    assert first.is_taken
    assert second.is_taken
    assert (places.in_use, places.waiting) == (2, 0)
    await first.wait()


@pytest.mark.promise("overload: turns")
async def test_networks_take_turns_for_the_places_that_become_free(places):
    first, second, *waiting = enter(places, "a", "a", "a", "a", "b")

    first.give_back()
    second.give_back()

    assert [place.is_taken for place in waiting] == [True, False, True]
    await waiting[0].wait()
    await waiting[2].wait()


@pytest.mark.promise("overload: turns")
async def test_in_a_full_queue_the_newest_of_the_network_with_most_is_refused(places):
    enter(places, "a", "a")
    waiting = enter(places, "a", "b", "a", "a")

    newcomer = places.enter("c")

    assert newcomer.is_waiting
    assert [place.is_waiting for place in waiting] == [True, True, True, False]
    with pytest.raises(Shed) as shed:
        await waiting[3].wait()
    assert (shed.value.reason, shed.value.group) == ("queue", GROUP)


async def test_a_network_that_fills_the_queue_refuses_itself_only(places):
    *_, last = enter(places, *"aaaaaaa")

    with pytest.raises(Shed):
        await last.wait()
    assert places.waiting == 4


async def test_who_has_waited_too_long_is_refused(places, timers):
    *_, place = enter(places, "a", "a", "a")

    timers.advance(1.9)
    assert place.is_waiting
    timers.advance(0.1)

    with pytest.raises(Shed) as shed:
        await place.wait()
    assert shed.value.reason == "wait"
    assert (places.in_use, places.waiting) == (2, 0)


async def test_who_got_a_place_is_not_refused_later(places, timers):
    first, _, place = enter(places, "a", "a", "a")
    first.give_back()

    timers.advance(60)

    await place.wait()
    assert place.is_taken


async def test_a_refused_request_may_return_after_one_to_three_seconds(places):
    enter(places, *"aaaaaa")

    seconds = {place.refusal.retry_after_seconds for place in enter(places, *100 * "a")}

    assert seconds == {1, 2, 3}


async def test_who_leaves_while_waiting_is_passed_over(places):
    first, _, gone, next_one = enter(places, "a", "a", "a", "a")

    gone.give_back()
    first.give_back()

    assert next_one.is_taken
    with pytest.raises(ClientLeft):
        await gone.wait()


async def test_a_place_is_given_back_once(places):
    first, _, waiting = enter(places, "a", "a", "a")

    for _ in range(3):
        first.give_back()

    assert waiting.is_taken
    assert places.in_use == 2


async def test_a_cancelled_request_returns_the_place_that_it_was_given(places):
    first, _, cancelled, after = enter(places, "a", "a", "a", "a")
    waiting = asyncio.ensure_future(cancelled.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    first.give_back()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    cancelled.give_back()

    assert after.is_taken
    assert (places.in_use, places.waiting) == (2, 0)


PACED = Group("pages", at_once=4, waiting=4, longest_wait_seconds=2, unpaced=2, per_turn=1)


async def test_beyond_the_unpaced_places_one_request_begins_in_each_turn_of_the_loop(timers):
    places = GroupPlaces(PACED, SeededRandom(), timers.call_later)
    entered = enter(places, *"aaaaaa")
    begun = [places.in_use]

    for _ in range(3):
        await asyncio.sleep(0)
        begun.append(places.in_use)

    assert begun == [2, 3, 4, 4]
    assert [place.is_taken for place in entered] == [True] * 4 + [False] * 2
    await entered[3].wait()


@pytest.mark.promise("overload: turns")
async def test_the_request_of_another_network_begins_in_the_second_turn_at_the_latest(timers):
    places = GroupPlaces(PACED, SeededRandom(), timers.call_later)
    *_, other = enter(places, "a", "a", "a", "a", "a", "b")

    for _ in range(2):
        await asyncio.sleep(0)

    assert other.is_taken


async def test_while_many_are_answered_the_next_begins_in_the_turn_after_one_has_ended(timers):
    places = GroupPlaces(PACED, SeededRandom(), timers.call_later)
    first, *_, waiting, _ = enter(places, *"aaaaaa")
    for _ in range(2):
        await asyncio.sleep(0)

    first.give_back()
    assert (places.in_use, waiting.is_taken) == (3, False)
    await asyncio.sleep(0)

    assert (places.in_use, waiting.is_taken) == (4, True)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("enter"), st.sampled_from("abc")),
        st.tuples(st.just("give_back"), st.integers(0, 20)),
        st.tuples(st.just("cancel"), st.integers(0, 20)),
        st.tuples(st.just("advance"), st.sampled_from([0.3, 1.0, 2.5])),
        st.tuples(st.just("turns"), st.integers(1, 5)),
    ),
    max_size=60,
)


class Walk:
    """Places through which requests go in any order, with what must be true at every moment."""

    def __init__(self, group):
        self.group = group
        self.timers = Timers()
        self.places = GroupPlaces(group, SeededRandom(), self.timers.call_later)
        self.open = {}
        self.all = []

    async def step(self, name, value):
        if name == "turns":
            for _ in range(value):
                await asyncio.sleep(0)
        elif name == "enter":
            place = self.places.enter(value)
            self.open[place] = self.timers.now
            self.all.append(place)
        elif name == "advance":
            self.timers.advance(value)
        elif value < len(self.open):
            place = list(self.open)[value]
            if name == "give_back":
                place.give_back()
                del self.open[place]
            elif place.turn is not None:
                place.turn.cancel()
        self.check()

    def check(self):
        taken = sum(place.is_taken for place in self.all)
        waiting = [place for place in self.all if place.is_waiting]
        assert taken == self.places.in_use <= self.group.at_once
        assert len(waiting) == self.places.waiting <= self.group.waiting
        assert not waiting or taken >= min(self.group.unpaced, self.group.at_once)
        assert all(self.timers.now - self.open[place] < 2 for place in waiting)

    async def end(self):
        await self.step("turns", self.group.at_once)
        assert not self.places.waiting or self.places.in_use == self.group.at_once
        for place in list(self.open):
            place.give_back()
        assert (self.places.in_use, self.places.waiting) == (0, 0)
        assert not any(place.is_taken or place.is_waiting for place in self.all)


@settings(max_examples=100, deadline=None)
@given(steps=STEPS, group=st.sampled_from([GROUP, PACED]))
def test_no_order_of_requests_cancellations_and_waits_loses_a_place(steps, group):
    async def walked():
        walk = Walk(group)
        for step in steps:
            await walk.step(*step)
        await walk.end()

    asyncio.run(walked())
