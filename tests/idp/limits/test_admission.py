"""The places of a group: who takes one, who waits, and who is refused."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.foundation.network_keys import client_key
from idp.limits.admission import Abandoned, GroupSlots, Overloaded, RequestGroup
from idp.limits.turns import Turns
from tests.support.random import SeededRandom

GROUP = RequestGroup("pages", max_running=2, max_waiting=4, max_wait_seconds=2)
SHARED = RequestGroup("bulk", max_running=4, max_waiting=4, max_wait_seconds=2, max_of_caller=2)


class Timers:
    """Timers of a clock that a test advances."""

    def __init__(self):
        self.now = 0.0
        self.set = []

    def monotonic(self):
        return self.now

    def call_later(self, seconds, function):
        self.set.append((self.now + seconds, function))

    def advance(self, seconds):
        self.now += seconds
        due = [function for at, function in self.set if at <= self.now]
        self.set = [(at, function) for at, function in self.set if at > self.now]
        for function in due:
            function()


@pytest.fixture
def timers():
    return Timers()


def slots_of(group, timers, **turns):
    """The places of a group, whose requests begin in turns of this kind."""
    return GroupSlots(group, SeededRandom(), Turns(now=timers.monotonic, **turns), timers)


@pytest.fixture
def places(timers):
    return slots_of(GROUP, timers)


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

    first.release()
    second.release()

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
    with pytest.raises(Overloaded) as shed:
        await waiting[3].wait()
    assert (shed.value.reason, shed.value.group) == ("queue", GROUP)


async def test_a_network_that_fills_the_queue_refuses_itself_only(places):
    *_, last = enter(places, *"aaaaaaa")

    with pytest.raises(Overloaded):
        await last.wait()
    assert places.waiting == 4


async def test_who_has_waited_too_long_is_refused(places, timers):
    *_, place = enter(places, "a", "a", "a")

    timers.advance(1.9)
    assert place.is_waiting
    timers.advance(0.1)

    with pytest.raises(Overloaded) as shed:
        await place.wait()
    assert shed.value.reason == "wait"
    assert (places.in_use, places.waiting) == (2, 0)


async def test_who_got_a_place_is_not_refused_later(places, timers):
    first, _, place = enter(places, "a", "a", "a")
    first.release()

    timers.advance(60)

    await place.wait()
    assert place.is_taken


async def test_a_refused_request_may_return_after_one_to_three_seconds(places):
    enter(places, *"aaaaaa")

    seconds = {place.refusal.retry_after_seconds for place in enter(places, *100 * "a")}

    assert seconds == {1, 2, 3}


async def test_who_leaves_while_waiting_is_passed_over(places):
    first, _, gone, next_one = enter(places, "a", "a", "a", "a")

    gone.release()
    first.release()

    assert next_one.is_taken
    with pytest.raises(Abandoned):
        await gone.wait()


async def test_a_place_is_given_back_once(places):
    first, _, waiting = enter(places, "a", "a", "a")

    for _ in range(3):
        first.release()

    assert waiting.is_taken
    assert places.in_use == 2


async def test_a_cancelled_request_returns_the_place_that_it_was_given(places):
    first, _, cancelled, after = enter(places, "a", "a", "a", "a")
    waiting = asyncio.ensure_future(cancelled.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    first.release()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    cancelled.release()

    assert after.is_taken
    assert (places.in_use, places.waiting) == (2, 0)


WIDE = RequestGroup("pages", max_running=20, max_waiting=20, max_wait_seconds=2)


def taken(places):
    return "".join(place.key for place in places if place.is_taken)


async def next_turn():
    await asyncio.sleep(0)


@pytest.mark.promise("overload: turns")
async def test_of_a_network_that_is_not_alone_some_requests_begin_in_each_turn_of_the_loop(timers):
    places = slots_of(WIDE, timers, per_turn=2)
    entered = enter(places, *"baaaaa")
    begun = [taken(entered)]

    for _ in range(3):
        await next_turn()
        begun.append(taken(entered))

    assert begun == ["baa", "baaaa", "baaaaa", "baaaaa"]
    await entered[5].wait()


@pytest.mark.promise("overload: turns")
async def test_requests_that_are_answered_at_once_count_in_their_turn_too(timers):
    places = slots_of(WIDE, timers, per_turn=2)
    enter(places, "b")
    entered = []
    for _ in range(4):
        entered += enter(places, "a")
        if entered[-1].is_taken:
            entered[-1].release()

    assert [place.is_waiting for place in entered] == [False, False, True, True]
    assert places.in_use == 1


@pytest.mark.promise("overload: turns")
async def test_the_request_of_another_network_begins_before_those_that_wait(timers):
    places = slots_of(WIDE, timers, per_turn=2)

    *others, last = enter(places, *"baaaac")

    assert last.is_taken
    assert taken(others) == "baa"


@pytest.mark.parametrize(("seconds", "begin_at_once"), [(9.9, "aa"), (10.1, "aaaa")])
async def test_a_network_that_is_alone_for_ten_seconds_has_a_larger_share_of_a_turn(
    timers, seconds, begin_at_once
):
    places = slots_of(WIDE, timers, per_turn=2, per_turn_of_single=4)
    enter(places, *"ba")
    await next_turn()

    timers.advance(seconds)

    assert taken(enter(places, *"aaaaaa")) == begin_at_once


async def test_the_first_network_of_all_is_alone(timers):
    places = slots_of(WIDE, timers, per_turn=2, per_turn_of_single=4)

    assert taken(enter(places, *"aaaaaa")) == "aaaa"


async def test_the_networks_of_one_ipv6_site_have_one_share_of_a_turn(timers):
    places = slots_of(WIDE, timers, per_turn=2)

    enter(places, "b")
    entered = enter(places, *(client_key(f"2001:db8:1:{n:x}::1") for n in range(5)))

    assert [place.is_taken for place in entered] == [True, True, False, False, False]


async def test_groups_share_a_turn_and_begin_in_it_one_after_the_other(timers):
    turns = Turns(per_turn=2, now=timers.monotonic)
    first, second = (GroupSlots(WIDE, SeededRandom(), turns, timers) for _ in range(2))
    enter(first, "b")
    entered = [*enter(first, *"aaaaa"), *enter(second, *"aaaaa")]
    assert taken(entered) == "aa"

    await next_turn()

    assert [place.is_taken for place in entered] == [*[True] * 3, *[False] * 2, True, *[False] * 4]


def answered(places):
    """How many refused requests are answered."""
    return sum(place.refusal is not None and place.turn.done() for place in places)


async def test_of_refused_requests_some_are_answered_in_each_turn_of_the_loop(timers):
    group = RequestGroup("pages", max_running=1, max_waiting=0, max_wait_seconds=2)
    places = slots_of(group, timers, per_turn=2)
    enter(places, "b")
    refused = enter(places, *"aaaaa")
    counts = [answered(refused)]

    for _ in range(3):
        await next_turn()
        counts.append(answered(refused))

    assert all(place.refusal for place in refused)
    assert counts == [2, 4, 5, 5]


async def test_requests_that_have_waited_too_long_do_not_fill_a_turn_either(timers):
    places = slots_of(GROUP, timers, per_turn=2, per_turn_of_single=2)
    enter(places, "a", "a")
    waiting = enter(places, *"aaaa")
    for _ in range(3):
        await next_turn()

    timers.advance(2)
    assert (places.waiting, answered(waiting)) == (0, 2)
    await next_turn()

    assert answered(waiting) == 4


async def test_who_leaves_before_the_refusal_is_answered_gets_no_answer(timers):
    group = RequestGroup("pages", max_running=1, max_waiting=0, max_wait_seconds=2)
    places = slots_of(group, timers, per_turn=1, per_turn_of_single=1)
    _, gone, last = enter(places, *"aaa")

    gone.release()
    with pytest.raises(Abandoned):
        await gone.wait()
    with pytest.raises(Overloaded):
        await last.wait()


async def test_who_begins_in_a_later_turn_finds_the_places_that_were_free_then(timers):
    places = slots_of(GROUP, timers, per_turn=1, per_turn_of_single=1)
    first, second, third, fourth = enter(places, *"aaaa")
    await next_turn()
    assert (second.is_taken, places.in_use) == (True, 2)
    await next_turn()
    assert (third.is_waiting, places.in_use) == (True, 2)

    first.release()
    second.release()
    assert (third.is_taken, fourth.is_taken) == (True, False)
    await next_turn()

    assert fourth.is_taken
    await fourth.wait()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("enter"), st.sampled_from("abc")),
        st.tuples(st.just("release"), st.integers(0, 20)),
        st.tuples(st.just("cancel"), st.integers(0, 20)),
        st.tuples(st.just("advance"), st.sampled_from([0.3, 1.0, 2.5])),
        st.tuples(st.just("turns"), st.integers(1, 5)),
    ),
    max_size=60,
)


class Walk:
    """Places through which requests go in any order, with what must be true at every moment."""

    def __init__(self, group, per_turn):
        self.group = group
        self.timers = Timers()
        self.places = slots_of(
            group, self.timers, per_turn=per_turn, per_turn_of_single=2 * per_turn
        )
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
            if name == "release":
                place.release()
                del self.open[place]
            elif place.turn is not None:
                place.turn.cancel()
        self.check()

    def check(self):
        taken = sum(place.is_taken for place in self.all)
        waiting = [place for place in self.all if place.is_waiting]
        assert taken == self.places.in_use <= self.group.max_running
        assert len(waiting) == self.places.waiting <= self.group.max_waiting
        assert all(self.timers.now - self.open[place] < 2 for place in waiting)

    async def end(self):
        await self.step("turns", self.group.max_running + 1)
        is_full = self.places.in_use == self.group.max_running
        assert not self.places.waiting or is_full or self.group is SHARED
        for place in list(self.open):
            place.release()
        assert (self.places.in_use, self.places.waiting) == (0, 0)
        assert not any(place.is_taken or place.is_waiting for place in self.all)


@pytest.mark.full
@settings(max_examples=100, deadline=None)
@given(steps=STEPS, group=st.sampled_from([GROUP, WIDE, SHARED]), per_turn=st.integers(1, 3))
def test_no_order_of_requests_cancellations_and_waits_loses_a_place(steps, group, per_turn):
    async def walked():
        walk = Walk(group, per_turn)
        for step in steps:
            await walk.step(*step)
        await walk.end()

    asyncio.run(walked())
