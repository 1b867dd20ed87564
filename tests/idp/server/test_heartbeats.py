"""Which workers are shut off and killed, from when their event loops last ran."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from idp.foundation.clock import SystemTimer
from idp.server.heartbeats import Heartbeats, Watch, WorkerActions
from tests.support.clock import SteppingTimer


def watched(until, beats, listening=None, timeout=30, tick=0.25):
    """The verdicts of a watch that looks every tick; `beats` says of each worker when it last
    ran.
    """
    watch, now, verdicts = Watch(timeout), 0.0, {}
    while now <= until:
        last = {index: beat(now) for index, beat in beats.items()}
        verdict = watch.check(now, last, beats if listening is None else listening)
        if verdict.to_stop_listening or verdict.to_kill:
            verdicts[now] = verdict
        now += tick
    return verdicts


def running(now):
    return now


def silent_after(seconds):
    return lambda now: min(now, seconds)


def test_running_workers_are_left_alone():
    assert watched(100, {0: running, 1: running}) == {}


def test_a_silent_worker_gets_no_connections_after_5_seconds_and_is_killed_after_its_timeout():
    verdicts = watched(40, {0: silent_after(1), 1: running})

    assert min(verdicts) == 6
    assert verdicts[6] == WorkerActions(to_stop_listening=frozenset({0}), silent=frozenset({0}))
    assert min(now for now, verdict in verdicts.items() if verdict.to_kill) == 31
    assert verdicts[31].to_kill == {0}


def test_the_last_worker_that_listens_goes_on_listening():
    verdicts = watched(29, {0: silent_after(1), 1: running}, listening=[0])

    assert verdicts == {}


def test_workers_that_are_silent_together_have_a_minute():
    verdicts = watched(70, {0: silent_after(1), 1: silent_after(1.5)})

    assert min(verdicts) == 61
    assert verdicts[61] == WorkerActions(to_kill=frozenset({0}))  # and no one is called silent
    assert not any(verdict.to_stop_listening for verdict in verdicts.values())


def test_a_disk_that_stalled_for_20_seconds_costs_no_worker():
    def stalled(now):
        return now if now > 21 else min(now, 1.0)

    assert watched(60, {0: stalled, 1: stalled}) == {}


def stalled_until(seconds):
    return lambda now: now if now > seconds else min(now, 1.0)


def test_after_a_stall_workers_may_come_back_one_after_the_other():
    assert watched(60, {0: stalled_until(41), 1: stalled_until(44)}) == {}


def test_a_worker_that_stays_silent_after_a_stall_is_shut_off_five_seconds_later():
    verdicts = watched(80, {0: stalled_until(41), 1: silent_after(1)})

    assert min(verdicts) == pytest.approx(45, abs=0.5)  # the stall's first second counts
    assert verdicts[min(verdicts)].to_stop_listening == {1}
    killed = min(now for now, verdict in verdicts.items() if verdict.to_kill)
    assert killed == pytest.approx(70, abs=0.5)


def test_short_pauses_of_the_others_do_not_protect_a_worker_that_hangs():
    def pausing(now):
        return now - max(0.0, now % 4 - 2.5)  # for 1.5 s of 4

    verdicts = watched(40, {0: silent_after(1), 1: pausing})

    assert 6 <= min(verdicts) <= 8
    assert 31 <= min(now for now, verdict in verdicts.items() if verdict.to_kill) <= 37


def test_a_pause_of_the_supervisor_itself_gives_every_worker_a_new_term():
    watch, last = Watch(30), {0: 0.0, 1: 0.0}
    watch.check(0.0, last, [0, 1])

    assert watch.check(60.0, last, [0, 1]) == WorkerActions()
    assert watch.check(60.25, last | {1: 60.25}, [0, 1]) == WorkerActions()
    watch.check(60.9, last | {1: 60.9}, [0, 1])
    for tick in range(24):
        now = 61.0 + tick / 4
        verdict = watch.check(now, last | {1: now}, [0, 1])
        assert verdict.to_stop_listening == verdict.silent == ({0} if now >= 65 else set())
        assert not verdict.to_kill


@pytest.mark.full
async def test_an_event_loop_that_stands_still_does_not_beat():
    heartbeats = Heartbeats(2, SystemTimer())
    async with heartbeats.beating(1):
        await asyncio.sleep(0)
        first = heartbeats.last_beat(1)
        time.sleep(0.05)
        still = heartbeats.last_beat(1)

    assert (first, heartbeats.last_beat(0)) == (still, 0)


@pytest.mark.full
def test_a_child_beats_in_its_parents_memory():
    heartbeats = Heartbeats(2, SystemTimer())
    child = os.fork()
    if not child:
        heartbeats.beat(1)
        os._exit(0)
    os.waitpid(child, 0)

    assert 0 <= time.monotonic() - heartbeats.last_beat(1) < 10


async def test_a_loop_beats_four_times_a_second_until_the_end_of_the_block():
    timer = SteppingTimer()
    heartbeats = Heartbeats(2, timer)
    async with heartbeats.beating(1):
        await timer.advance(10.1)
        last_beat, is_beating = heartbeats.last_beat(1), heartbeats.is_beating(1)
    await timer.advance(2)

    assert last_beat == 1010
    assert is_beating
    assert heartbeats.last_beat(1) == 1010
    assert not heartbeats.is_beating(1)
    assert heartbeats.ages() == [None, pytest.approx(2.1)]
