"""A process that is told to end while it writes answers everything that it has begun."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time

import pytest

from tests.storage.fire.kills import Tally, judge, writers
from tests.storage.fire.script import Step
from tests.storage.fire.writing import Order

SIGNALS = 12
LANES = 16


@pytest.mark.load
async def test_a_store_that_is_closed_under_load_has_answered_all_that_it_has(
    shared, record_property
):
    tally, queued = Tally(), 0
    chance = random.Random(20260103)
    with writers() as begotten:
        for n in range(SIGNALS):
            order = Order(f"close{n}", shared.url, lanes=LANES)
            end = await asyncio.to_thread(told_to_end, begotten, order, chance.uniform(0, 0.2))
            progress = await judge(shared.url, end, tally)
            tally.count(end, progress)

            waiting = steps_queued(end)
            queued += len(waiting)
            assert end.code == 0
            assert not [step for step in waiting if step.n >= end.acknowledged[step.lane]]
            assert progress == end.acknowledged  # nothing was applied without its answer
            assert len([line for line in end.said if line.startswith("refused")]) == LANES
    record_property("counts", f"{SIGNALS} SIGTERMs under load, {queued} steps queued, {tally}")
    assert tally.faults == []
    assert queued > SIGNALS


def steps_queued(end):
    """What the store had at the signal. Of a `commit_each` it may have taken nothing yet."""
    told = [line.split()[1:] for line in end.said if line.startswith("queued ")]
    steps = [Step(lane, int(n)) for lane, n in told]
    return [step for step in steps if step.kind != "each"]


def told_to_end(begotten, order, seconds):
    """SIGTERM so long after the writer has begun."""
    pid = begotten.begin(order)
    begotten.wait_for("opened")
    time.sleep(seconds)
    os.kill(pid, signal.SIGTERM)
    return begotten.end(order)
