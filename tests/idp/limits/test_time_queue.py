"""The bounded queue in which clients take turns by the time of their work."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idp.limits import time_queue
from idp.limits.time_queue import TimeQueue


def queue_of(limit, *items, seconds=1.0):
    queue = TimeQueue(limit)
    for item in items:
        assert queue.add(item[0], item, seconds) is None
    return queue


def done(queue, seconds=1.0, measured=None):
    """Takes the next item and does its work, which takes so long."""
    item = queue.take(lambda _: True)
    queue.begin(item[0], seconds)
    queue.end(item[0], seconds, seconds if measured is None else measured)
    return item


def test_networks_whose_work_takes_equally_long_take_turns():
    queue = queue_of(10, "a1", "a2", "a3", "b1", "b2", "c1")

    assert [done(queue) for _ in range(6)] == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert queue.take(lambda _: True) is None


def test_measured_time_counts_and_not_what_was_expected():
    queue = queue_of(20, "a1", "a2", *[f"b{number}" for number in range(6)])

    assert done(queue, measured=5.0) == "a1"
    assert [done(queue) for _ in range(6)] == ["b0", "b1", "b2", "b3", "b4", "a2"]


def test_cheap_work_of_a_new_client_precedes_expensive_work_of_others():
    queue = queue_of(10, "a1", "b1", "c1", seconds=5.0)
    queue.add("d", "d1", 0.1)

    assert queue.take(lambda _: True) == "d1"


def test_a_client_who_has_used_its_share_is_not_preceded_by_new_ones_for_ever():
    queue = queue_of(100, "a1", "a2")
    done(queue)

    for number in range(50):
        network = f"n{number}"
        queue.add(network, network, 1.0)
        if queue.take(lambda _: True) == "a2":
            break
        queue.begin(network, 1.0)
        queue.end(network, 1.0, 1.0)

    assert number < 5


def test_time_that_was_not_used_is_not_saved_up():
    queue = queue_of(100, *[f"a{number}" for number in range(20)])
    for _ in range(10):
        done(queue)
    for number in range(5):
        queue.add("b", f"b{number}", 1.0)

    assert [done(queue)[0] for _ in range(6)].count("b") <= 4


def test_what_may_not_be_taken_keeps_its_turn():
    queue = queue_of(10, "a1", "b1")

    assert queue.take(lambda item: item != "a1") == "b1"
    assert queue.take(lambda item: item != "a1") is None
    assert queue.take(lambda item: True) == "a1"


def test_in_a_full_queue_the_newest_of_the_site_with_most_time_is_dropped():
    queue = queue_of(3, "a1", "a2", "b1")

    assert not queue.has_room("b", 1.0)
    assert queue.add("b", "b2", 1.0) == "b2"
    assert queue.add("c", "c1", 1.0) == "a2"
    assert queue.add("d", "d1", 1.0) == "d1"
    assert len(queue) == 3


def test_what_was_removed_does_not_wait_and_frees_its_room():
    queue = queue_of(2, "a1", "b1")

    queue.remove("a", "a1")
    queue.remove("a", "a1")
    queue.remove("x", "x1")

    assert len(queue) == 1
    assert queue.add("c", "c1", 1.0) is None


def test_sites_that_have_left_are_forgotten(monkeypatch):
    monkeypatch.setattr(time_queue, "_MAX_REMEMBERED", 10)
    queue = TimeQueue(10)

    for number in range(100):
        network = f"n{number}"
        queue.add(network, network, 1.0)
        queue.take(lambda _: True)
        queue.begin(network, 1.0)
        queue.end(network, 1.0, 1.0)

    assert len(queue._used) <= 12


NETWORKS = ["192.0.2.1", "192.0.2.2", "2001:db8:0:1::/64", "2001:db8:0:2::/64"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(NETWORKS), st.floats(0, 2)),
        st.tuples(st.just("take"), st.just(""), st.floats(0, 2)),
        st.tuples(st.just("remove"), st.sampled_from(NETWORKS), st.just(0.0)),
    ),
    max_size=40,
)


@pytest.mark.full
@settings(max_examples=100, deadline=None)
@given(steps=STEPS)
def test_whatever_clients_do_each_item_is_taken_dropped_or_removed_once(steps):
    queue, waiting, number = TimeQueue(5), {}, 0
    for name, network, seconds in steps:
        if name == "add":
            number += 1
            dropped = queue.add(network, number, seconds)
            waiting[number] = network
            waiting.pop(dropped, None)
        elif name == "take" and (item := queue.take(lambda _: True)) is not None:
            taken = waiting.pop(item)
            queue.begin(taken, 1.0)
            queue.end(taken, 1.0, seconds)
        elif name == "remove" and waiting:
            item, its_network = next(iter(waiting.items()))
            queue.remove(its_network, item)
            del waiting[item]
        assert len(queue) == len(waiting) <= 5
