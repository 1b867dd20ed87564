"""Which connections make room for others."""

from __future__ import annotations

import random

import pytest

from idp.server import connections
from idp.server.connections import Connections


class Opened:
    """Connections by name, and the names of those closed so far."""

    def __init__(self, limit):
        self.connections = Connections(limit)
        self.closed = []
        self.by_name = {}

    def add(self, name, address="192.0.2.1", now=0.0):
        added = self.connections.add(address, now, lambda: self.closed.append(name))
        self.by_name[name] = added
        return added

    def mark_busy(self, *names):
        for name in names:
            self.connections.mark_busy(self.by_name[name])

    def mark_idle(self, *names, now=0.0):
        for name in names:
            self.connections.mark_idle(self.by_name[name], now)


def test_the_longest_idle_connection_of_the_client_that_holds_most_makes_room():
    opened = Opened(4)
    opened.add("guest", "198.51.100.7")
    for name in ("a", "b", "c"):
        opened.add(name)
    opened.mark_busy("a")
    opened.mark_idle("a")

    opened.add("new", "203.0.113.5")

    assert opened.closed == ["b"]
    assert len(opened.connections) == 4


def test_without_idle_ones_the_longest_waiting_for_its_client_makes_room():
    opened = Opened(4)
    opened.add("guest", "198.51.100.7").awaits_client = lambda: True
    for name in ("a", "b", "c"):
        opened.add(name).awaits_client = lambda name=name: name != "a"
    opened.mark_busy("guest", "a", "b", "c")

    opened.add("new", "203.0.113.5")
    opened.mark_busy("new")
    opened.add("newer", "203.0.113.6")

    assert opened.closed == ["b", "c"]


def test_a_connection_with_a_request_under_way_is_never_closed_for_another():
    opened = Opened(3)
    for name in ("a", "b"):
        opened.add(name)
    opened.add("idle", "198.51.100.7")
    opened.mark_busy("a", "b")

    opened.add("new", "203.0.113.5")

    assert opened.closed == ["idle"]


def test_where_every_connection_has_a_request_a_new_one_is_refused():
    opened = Opened(2)
    opened.add("a")
    opened.add("b")
    opened.mark_busy("a", "b")

    assert opened.add("c") is None
    assert opened.closed == []
    opened.mark_idle("b")
    assert opened.add("c") is not None
    assert opened.closed == ["b"]


def test_no_client_is_limited_while_there_is_room():
    opened = Opened(1000)

    assert all(opened.add(n) for n in range(1000))
    assert opened.closed == []


def test_addresses_of_one_ipv6_network_are_one_client():
    opened = Opened(4)
    opened.add("first", "198.51.100.7")
    for n in range(3):
        opened.add(n, f"2001:db8::{n}")

    opened.add("new", "203.0.113.5")

    assert opened.closed == [0]


def test_addresses_of_one_ipv6_site_are_one_client():
    opened = Opened(7)
    for n in range(3):
        opened.add(f"office {n}", "198.51.100.7")
    for n in range(4):
        opened.add(f"site {n}", f"2001:db8:0:{n}::1")

    for n in range(2):
        opened.add(f"new {n}", f"203.0.113.{n}")

    assert opened.closed == ["site 0", "office 0"]


def test_connections_without_a_request_are_closed_in_time():
    opened = Opened(10)
    for now in range(4):
        opened.add(now, now=float(now))
    opened.mark_busy(1)
    opened.mark_idle(1)

    opened.connections.close_unused(2.0)
    opened.connections.close_unused(2.0)

    assert opened.closed == [0, 2]


def test_a_connection_is_new_until_its_first_request_or_its_time():
    connections = Connections(limit=10)
    first = connections.add("192.0.2.1", 1.0, lambda: None)
    second = connections.add("192.0.2.2", 2.0, lambda: None)

    assert connections.is_one_unused_since(1.5)
    assert not connections.is_one_unused_since(2.0)
    connections.mark_busy(second)
    assert not connections.is_one_unused_since(1.5)
    assert connections.is_one_unused_since(0.5)
    connections.remove(first)
    assert not connections.is_one_unused_since(0.0)


def test_idle_connections_are_closed_in_time_and_busy_ones_are_not():
    opened = Opened(10)
    for name in ("new", "idle", "busy", "again"):
        opened.add(name)
    opened.mark_busy("idle", "busy", "again")
    opened.mark_idle("idle", now=5.0)
    opened.mark_idle("again", now=6.0)

    opened.connections.close_idle(5.0)

    assert opened.closed == ["new", "idle"]
    assert len(opened.connections) == 2


@pytest.mark.promise("overload: least rate")
def test_a_response_that_is_read_too_slowly_ends_the_connection_and_a_slow_reader_goes_on():
    opened, read = Opened(10), {"stalled": 7, "trickling": 0, "slow": 0, "working": None}
    for name in read:
        opened.add(name).bytes_read = lambda name=name: read[name]
    opened.mark_busy(*read)

    for now in range(0, 91, 10):
        read["slow"] = now * connections.LEAST_BYTES_PER_SECOND
        read["trickling"] = now * (connections.LEAST_BYTES_PER_SECOND - 1)
        opened.connections.close_stalled(float(now), 30)
        assert opened.closed == (["stalled", "trickling"] if now >= 30 else [])

    read["working"] = 0
    opened.connections.close_stalled(91.0, 30)
    assert opened.closed == ["stalled", "trickling"]


def test_a_connection_that_is_removed_twice_is_counted_once():
    opened = Opened(2)
    opened.add("a")
    opened.connections.remove(opened.by_name["a"])
    opened.connections.remove(opened.by_name["a"])
    opened.mark_idle("a")
    opened.connections.close_idle(1.0)

    assert opened.closed == []
    assert len(opened.connections) == 0
    assert opened.connections.make_room() == 0


@pytest.mark.parametrize("seed", range(20))
def test_it_counts_what_a_plain_list_counts(seed):
    """Random steps, compared with a list of the open connections in the order of their rest."""
    draw, opened, idle, busy = random.Random(seed), Opened(12), [], []
    for n in range(400):
        step = draw.choice(["add", "add", "work", "rest", "remove"])
        if step == "add":
            address = f"192.0.2.{draw.randrange(5)}"
            is_full, before = len(idle) + len(busy) == 12, len(opened.closed)
            if is_full and idle:
                opened.add(n, address)
                (name,) = opened.closed[before:]
                held = [each[1] for each in idle + busy]
                gone = next(each for each in idle if each[0] == name)
                assert held.count(gone[1]) == max(held.count(each[1]) for each in idle)
                assert gone == next(each for each in idle if each[1] == gone[1])
                idle.remove(gone)
                idle.append((n, address))
            elif is_full:
                assert opened.add(n, address) is None
            else:
                opened.add(n, address)
                idle.append((n, address))
        elif step == "work" and idle:
            busy.append(idle.pop(draw.randrange(len(idle))))
            opened.mark_busy(busy[-1][0])
        elif step == "rest" and busy:
            idle.append(busy.pop(draw.randrange(len(busy))))
            opened.mark_idle(idle[-1][0])
        elif step == "remove" and idle + busy:
            gone = draw.choice(idle + busy)
            (idle if gone in idle else busy).remove(gone)
            opened.connections.remove(opened.by_name[gone[0]])
        assert len(opened.connections) == len(idle) + len(busy)
