"""The bounded queue in which clients take turns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.limits.fair_queue import FairQueue


def queue_of(limit, *items):
    queue = FairQueue(limit)
    for item in items:
        assert queue.add(item[0], item) is None
    return queue


def taken(queue):
    return [queue.take() for _ in range(len(queue))]


def test_clients_take_turns_and_of_a_client_the_oldest_item_is_first():
    queue = queue_of(10, "a1", "a2", "a3", "a4", "b1", "b2", "c1")

    assert taken(queue) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]
    assert queue.take() is None


def test_an_item_that_may_not_be_taken_keeps_its_turn_and_holds_up_nobody():
    queue = queue_of(10, "a1", "a2", "b1", "b2")

    assert queue.take(lambda item: item[0] != "a") == "b1"
    assert queue.take(lambda item: item == "a2") == "a2"
    assert queue.take(lambda item: False) is None
    assert taken(queue) == ["b2", "a1"]


def test_one_item_of_another_key_waits_for_one_item_at_most():
    queue = queue_of(1000, *(f"a{n}" for n in range(200)))
    assert queue.take() == "a0"

    queue.add("b", "b1")

    assert [queue.take(), queue.take()] == ["a1", "b1"]


def test_a_key_may_use_all_room_while_no_other_needs_it():
    queue = queue_of(4, "a1", "a2", "a3", "a4")

    assert not queue.has_room("a")
    assert queue.add("a", "a5") == "a5"
    assert taken(queue) == ["a1", "a2", "a3", "a4"]


def test_in_a_full_queue_the_newest_item_of_the_key_that_has_most_makes_room():
    queue = queue_of(4, "a1", "b1", "a2", "a3")

    assert queue.has_room("c")
    assert queue.add("c", "c1") == "a3"
    assert taken(queue) == ["a1", "b1", "c1", "a2"]


def test_among_keys_that_have_equally_many_the_new_item_is_the_newest():
    queue = queue_of(2, "a1", "b1")

    assert queue.add("c", "c1") == "c1"


def test_without_room_at_all_every_item_is_dropped_at_once():
    queue = FairQueue(0)

    assert not queue.has_room("a")
    assert queue.add("a", "a1") == "a1"
    assert queue.take() is None


def test_a_removed_item_is_not_taken_and_removing_it_again_has_no_effect():
    queue = queue_of(3, "a1", "a2", "b1")

    for _ in range(2):
        queue.remove("a", "a1")
        queue.remove("c", "c1")

    assert len(queue) == 2
    assert taken(queue) == ["a2", "b1"]


NAMES = ("a", "b", "c", "d", "e")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(NAMES)),
        st.tuples(st.just("take"), st.none()),
        st.tuples(st.just("remove"), st.integers(0, 30)),
    ),
    max_size=60,
)


@pytest.mark.full
@settings(max_examples=100, deadline=None)
@given(steps=STEPS, limit=st.integers(0, 6))
def test_every_item_is_taken_dropped_or_removed_exactly_once(steps, limit):
    queue, waiting, gone = FairQueue(limit), [], []
    for number, (step, which) in enumerate(steps):
        if step == "add":
            item = (which, number)
            had_room, dropped = queue.has_room(which), queue.add(which, item)
            assert had_room is (dropped is not item)
            waiting.append(item)
            if dropped is not None:
                assert len(waiting) == limit + 1
                waiting.remove(dropped)
                gone.append(dropped)
        elif step == "take" and (item := queue.take()) is not None:
            assert item == next(each for each in waiting if each[0] == item[0])
            waiting.remove(item)
            gone.append(item)
        elif step == "remove" and which < len(waiting):
            item = waiting.pop(which)
            queue.remove(item[0], item)
            gone.append(item)
        assert len(queue) == len(waiting) <= limit

    rest = taken(queue)
    assert sorted(rest) == sorted(waiting)
    assert not set(rest) & set(gone)
