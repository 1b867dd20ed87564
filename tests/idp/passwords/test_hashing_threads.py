"""Whose password is hashed next, and who is refused when too many wait."""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
import threading

import pytest

from idp.limits import requester
from idp.limits.requester import Requester
from idp.passwords.hashing_threads import NICENESS, USUAL, HashingBusy, HashingThreads, WorkCost
from tests.support import patience
from tests.support.random import SeededRandom


class Hashes:
    """Work in one thread, piece by piece: `step` lets the piece that runs end."""

    def __init__(self, limit, threads=1):
        self.threads = HashingThreads(threads, limit, SeededRandom(), lambda: self.now)
        self.now = 0.0
        self.started = []
        self.clients = {}
        self._gate = threading.Semaphore(0)
        self._begun = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def submit(self, name, network, cost=USUAL, takes=None):
        """Submits a piece of work of a client in this network; returns its future result."""
        seconds = cost.seconds if takes is None else takes
        context = contextvars.copy_context()
        self.clients[name] = Requester(network)
        context.run(requester.begin, self.clients[name])
        work = self.threads.run(lambda: self._work(name, seconds), cost)
        return self._loop.create_task(work, context=context)

    async def begun(self, count):
        async with asyncio.timeout(patience.SECONDS):
            while len(self.started) < count:
                self._begun.clear()
                await self._begun.wait()

    async def step(self):
        """Ends the piece of work that runs, and waits until the next one has begun."""
        count = len(self.started)
        self._gate.release()
        await self.begun(count + 1)

    async def end(self, *results):
        self._gate.release(1000)
        await asyncio.gather(*results, return_exceptions=True)
        self.threads.close()

    def _work(self, name, seconds):
        self.started.append(name)
        self._loop.call_soon_threadsafe(self._begun.set)
        self._gate.acquire(timeout=patience.SECONDS)
        self.now += seconds
        return name


async def started_flood(limit=1000, count=200):
    hashes = Hashes(limit)
    results = [hashes.submit(f"a{n}", "192.0.2.1") for n in range(count)]
    await hashes.begun(1)
    return hashes, results


@pytest.mark.promise("overload: hashing")
async def test_in_a_flood_of_sign_ins_another_network_waits_for_two_hashes_each_time():
    hashes, results = await started_flood()

    for n in range(5):
        before = len(hashes.started)
        results.append(hashes.submit(f"b{n}", "192.0.2.2"))
        await asyncio.sleep(0)
        while f"b{n}" not in hashes.started:
            await hashes.step()
        assert len(hashes.started) - before <= 2  # one of them is its own

    await hashes.end(*results)
    assert [(await each) for each in results] == [
        *(f"a{n}" for n in range(200)),
        *map("b{}".format, range(5)),
    ]


@pytest.mark.promise("overload: hashing")
async def test_of_five_sign_ins_at_once_each_waits_for_one_foreign_hash_more_than_the_one_before():
    hashes, results = await started_flood()
    results += [hashes.submit(f"b{n}", "192.0.2.2") for n in range(5)]
    await asyncio.sleep(0)

    for _ in range(10):
        await hashes.step()

    assert hashes.started == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4", "a5"]
    await hashes.end(*results)


@pytest.mark.promise("overload: measured hashes")
async def test_who_has_used_much_time_waits_for_those_who_have_used_little():
    hashes = Hashes(100)
    results = [hashes.submit(f"slow{n}", "192.0.2.1", takes=0.3) for n in range(3)]
    await hashes.begun(1)
    results += [hashes.submit(f"quick{n}", "192.0.2.2") for n in range(8)]
    await asyncio.sleep(0)

    for _ in range(9):
        await hashes.step()

    assert hashes.started == ["slow0", *[f"quick{n}" for n in range(8)], "slow1"]
    await hashes.end(*results)


@pytest.mark.promise("overload: measured hashes")
@pytest.mark.parametrize("threads", [1, 2, 4])
async def test_one_thread_takes_no_hashes_that_are_more_expensive_than_our_own(threads):
    hashes = Hashes(100, threads)
    expensive = WorkCost(0.5, is_expensive=True)
    results = [hashes.submit(f"expensive{n}", f"198.51.100.{n}", expensive) for n in range(48)]
    most = max(1, threads - 1)
    await hashes.begun(most)

    results.append(hashes.submit("own", "192.0.2.1"))
    await hashes.begun(most + 1)

    assert hashes.started[most:] == ["own"]
    results.append(hashes.submit("next", "192.0.2.1"))
    await asyncio.sleep(0)
    assert len(hashes.started) == most + 1, "all threads are taken"
    await hashes.end(*results)
    assert len(hashes.started) == 50


@pytest.mark.promise("overload: measured hashes")
async def test_in_a_queue_that_is_full_of_expensive_hashes_a_cheap_one_has_room():
    hashes = Hashes(3)
    expensive = WorkCost(0.5, is_expensive=True)
    results = [hashes.submit(f"expensive{n}", f"198.51.100.{n}", expensive) for n in range(4)]
    await hashes.begun(1)
    results += [hashes.submit("own0", "192.0.2.1"), hashes.submit("own1", "192.0.2.1")]
    await hashes.begun(2)

    assert hashes.started == ["expensive0", "own0"]
    refused = [each for each in results if each.done() and each.exception()]
    assert len(refused) == 1
    assert isinstance(refused[0].exception(), HashingBusy)
    assert not results[-1].done()
    await hashes.end(*results)


async def test_in_a_full_queue_the_newest_of_the_network_with_most_is_refused():
    hashes, results = await started_flood(limit=3, count=4)
    other = hashes.submit("b", "192.0.2.2")
    await asyncio.sleep(0)

    with pytest.raises(HashingBusy):
        await results[3]

    await hashes.end(*results, other)
    assert hashes.started == ["a0", "b", "a1", "a2"]


async def test_who_would_be_refused_is_refused_before_any_other_work():
    hashes, results = await started_flood(limit=3, count=4)

    requester.begin(Requester("192.0.2.1"))
    with pytest.raises(HashingBusy) as busy:
        hashes.threads.check_capacity()
    requester.begin(Requester("192.0.2.2"))
    hashes.threads.check_capacity()

    assert busy.value.retry_after_seconds in range(2, 6)
    await hashes.end(*results)


async def test_a_client_that_has_left_is_passed_over():
    hashes, results = await started_flood(count=3)

    hashes.clients["a1"].has_disconnected = True
    await hashes.step()

    assert hashes.started == ["a0", "a2"]
    with pytest.raises(HashingBusy):
        await results[1]
    await hashes.end(*results)


async def test_what_waits_for_a_thread_takes_no_other_room(monkeypatch):
    elsewhere = []
    monkeypatch.setattr(Requester, "wait_elsewhere", lambda self: elsewhere.append(self))
    hashes, results = await started_flood(count=2)

    assert elsewhere == [hashes.clients["a1"]]
    await hashes.end(*results)


async def test_work_that_fails_fails_its_own_request_only():
    threads = HashingThreads(1, 10, SeededRandom())

    def fail():
        raise ValueError("not a hash")

    failing, working = asyncio.gather(threads.run(fail)), asyncio.gather(threads.run(lambda: 7))
    with pytest.raises(ValueError, match="not a hash"):
        await failing

    assert await working == [7]
    threads.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no priority")
async def test_hashing_gives_way_to_the_rest_of_the_process():
    threads = HashingThreads(1, 10, SeededRandom())
    of_process = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def niceness():
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    assert await threads.run(niceness) == min(19, of_process + NICENESS)
    assert niceness() == of_process
    threads.close()
