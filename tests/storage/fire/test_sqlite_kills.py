"""Killed at any moment, SQLite has every acknowledged write, once and whole, and opens at once."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3

import pytest

from tests.storage.fire import script
from tests.storage.fire.kills import Tally, judge, random_kills, writers
from tests.storage.fire.writing import Order

SCRIPT = 2 * len(script.KINDS) + 1
LANE = "run.0"
RANDOM_KILLS = 200
OPENS_WITHIN_SECONDS = 5  # a machine may be busy; without a crash it takes 10 ms


def intact(file):
    connection = sqlite3.connect(file)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def ran(begotten, order):
    begotten.begin(order)
    return begotten.end(order)


def settled(file, end, tally):
    """The progress of the one lane in the store that a writer left."""
    intact(file)
    progress = asyncio.run(judge(f"sqlite:///{file}", end, tally))
    tally.count(end, progress)
    return progress[LANE]


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_before_or_after_a_write_the_store_has_exactly_what_came_before(
    tmp_path, when, record_property
):
    tally = Tally()
    with writers() as begotten:
        for n in range(1, SCRIPT + 1):
            file = tmp_path / f"{n}.sqlite3"
            order = Order("run", f"sqlite:///{file}", steps=SCRIPT, crash=f"{when} {n}")
            end = ran(begotten, order)

            assert list(end.acknowledged.values()) == [n - 1]
            assert settled(file, end, tally) == (n - 1 if when == "before" else n)
    record_property("counts", str(tally))
    assert (tally.kills, tally.faults) == (SCRIPT, [])


@pytest.mark.load
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_any_statement_of_a_new_store_it_is_whole(tmp_path, when, record_property):
    """From the first PRAGMA of the first opening to the checkpoint at the end."""
    tally = Tally()
    at_commit = set()
    with writers() as begotten:
        for n in itertools.count(1):
            file = tmp_path / f"{n}.sqlite3"
            url = f"sqlite:///{file}"
            order = Order("run", url, steps=SCRIPT, statement=f"{when} {n}")
            end = ran(begotten, order)
            if end.code == 0:
                break
            progress = settled(file, end, tally)
            if "at COMMIT" in end.said and "opened" in end.said:
                at_commit.add(progress - end.acknowledged[LANE])
    record_property("counts", str(tally))

    assert tally.kills > 5 * SCRIPT
    assert tally.faults == []
    assert at_commit == ({0} if when == "before" else {1})


@pytest.mark.load
def test_of_what_a_killed_writer_acknowledged_nothing_is_lost_double_or_half(
    tmp_path, record_property
):
    file = tmp_path / "db.sqlite3"
    tally = random_kills(f"sqlite:///{file}", RANDOM_KILLS, 20260102, check=lambda: intact(file))
    record_property("counts", str(tally))

    assert tally.faults == []
    assert tally.acknowledged > RANDOM_KILLS
    assert tally.slowest_opening < OPENS_WITHIN_SECONDS


def state_after(k, **changes):
    state = script.after(LANE, k)
    for name, value in changes.items():
        setattr(state, name, value)
    return state


@pytest.mark.parametrize(
    "state",
    [
        state_after(7, entries=set()),
        state_after(7, entries=script.after(LANE, 7).entries - {f"{LANE}.5.0"}),
        state_after(7, user=(1, "2")),
        state_after(7, user=(3, "3")),
        state_after(7, count=0),
        state_after(7, count=2),
        state_after(9),
    ],
    ids=["all lost", "half", "lost", "double", "uncounted", "counted twice", "too far"],
)
def test_what_is_lost_doubled_or_half_is_noticed(state):
    assert script.progress(state_after(7), LANE, 7) == 7
    assert script.progress(state_after(8), LANE, 7) == 8
    assert script.progress(state, LANE, 7) is None
