"""Processes of two groups behind a balancer are killed or stand still; clients hardly notice."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from functools import partial

import pytest

from storage import blocks_writers
from tests.fire.groups import PROCESSES, have_ended, send
from tests.fire.under_load.load import Load, longest, refused
from tests.support.programs.program import delayed, is_alive, stop_running

pytestmark = pytest.mark.load

BEFORE_SECONDS = 1.5
AFTER_SECONDS = 4
LONGEST_SECONDS = 1  # for any answer
STORE_SECONDS = 8  # for any answer while nobody can write
HEALTHY_SECONDS = 6  # after which the balancer has found both groups well again
QUEUE = 20


async def until(what, seconds: float) -> float:
    """The seconds until `what` was true."""
    began = time.monotonic()
    async with asyncio.timeout(seconds):
        while not what():
            await asyncio.sleep(0.01)
    return time.monotonic() - began


def seconds_until_refused(port: int) -> float:
    began = time.monotonic()
    while time.monotonic() < began + 10:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except ConnectionRefusedError:
            break
        except OSError:
            pass  # it was queued, and the queue has just been closed
        time.sleep(0.001)
    return time.monotonic() - began


async def stop_without_lock(groups, *pids: int) -> None:
    """Have processes stand still, while none of them writes the SQLite file."""
    await stop_once(lambda: not any(map(partial(blocks_writers, groups.store_url), pids)), *pids)


async def stop_once(condition, *pids: int) -> None:
    """Have processes stand still at a moment when the condition holds."""
    for _ in range(1000):
        await asyncio.to_thread(stop_running, *pids)
        if condition():
            return
        send(signal.SIGCONT, *pids)
        await asyncio.sleep(0.01)
    raise AssertionError("there is no such moment")


def reasons(group) -> list[str]:
    """Why workers of a group were replaced."""
    lines = [json.loads(line) for line in list(group.errors) if line.startswith("{")]
    return [line["reason"] for line in lines if line["event"] == "worker replaced"]


def is_shut_off(group) -> bool:
    return "no new connections" in group.printed


@pytest.fixture
def groups(new_groups, io_loop):
    made = new_groups()
    io_loop.run_sync(made.start, timeout=120)
    return made


@pytest.fixture
def report(record_property):
    """Notes what was seen, for the summary and for a failure."""

    def note(asked, **seen: float) -> None:
        figures = [f"{name} {value:.2f}" for name, value in seen.items()]
        figures.append(f"longest wait {longest(asked):.2f} of {len(asked)}")
        figures.append(f"refused {dict(refused(asked))}")
        record_property("counts", ", ".join(figures))
        print(*figures, sep=", ")

    return note


async def test_after_a_worker_was_killed_everybody_is_answered_and_another_serves_within_a_second(
    groups, report
):
    fastest = 10.0
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        killed_at = time.monotonic()
        for n in range(2 * PROCESSES):  # each once: the first time it is replaced at once
            group = groups.groups[n % 2]
            before = group.workers()
            send(signal.SIGKILL, before[0])
            gone = await until(lambda n=n: not groups.is_whole(n % 2), 5)
            replaced = gone + await until(lambda n=n: groups.is_whole(n % 2), 10)
            fastest = min(fastest, replaced - delayed(*set(group.workers()) - set(before)))
        await asyncio.sleep(AFTER_SECONDS)
    since = load.since(killed_at - 1)
    report(since, replaced=fastest)

    await groups.check()
    assert longest(since) <= LONGEST_SECONDS
    assert fastest <= 1
    assert not [one for one in since if one.method == "GET" and one.status != 200]


async def test_connections_that_wait_for_a_worker_are_reset_when_it_is_killed(groups):
    victims = groups.groups[0].workers()
    await stop_without_lock(groups, *victims)
    waiting = [socket.create_connection(("127.0.0.1", groups.ports[0]), 10) for _ in range(QUEUE)]
    for connection in waiting:
        connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    send(signal.SIGKILL, *victims)
    killed_at = time.monotonic()
    for connection in waiting:
        with connection, pytest.raises(ConnectionResetError):
            connection.recv(1)

    assert time.monotonic() - killed_at <= 1
    await until(lambda: groups.is_whole(0), 10)
    await groups.check()


async def test_while_all_workers_of_a_group_are_dead_it_refuses_and_the_other_group_answers(
    groups, report
):
    fastest, group = 10.0, groups.groups[0]
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        killed_at = time.monotonic()
        for _ in range(3):
            before = delayed(group.pid)
            send(signal.SIGKILL, *group.workers())
            took = await asyncio.to_thread(seconds_until_refused, groups.ports[0])
            fastest = min(fastest, took - (delayed(group.pid) - before))
            await until(lambda: groups.is_whole(0), 20)
        await asyncio.sleep(AFTER_SECONDS)
    since = load.since(killed_at - 1)
    report(since, refuses=fastest)

    await groups.check()
    assert longest(since) <= LONGEST_SECONDS
    assert fastest <= 0.05


async def test_a_worker_that_stands_still_delays_nobody_after_6_seconds_and_is_killed_after_30(
    groups, report
):
    group = groups.groups[0]
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        frozen = group.workers()[0]
        stopped_at = time.monotonic()
        await stop_without_lock(groups, frozen)
        await until(lambda: is_shut_off(group), 10)
        await until(lambda: not is_alive(frozen), 60)
        killed = time.monotonic() - stopped_at
        await until(lambda: groups.is_whole(0), 10)
        await asyncio.sleep(AFTER_SECONDS)
    since = load.since(stopped_at + 6)
    report(since, killed=killed)

    await groups.check()
    assert longest(since) <= LONGEST_SECONDS
    assert not refused(since)
    assert killed >= 29.5  # counted from the last heartbeat
    assert killed <= 32
    assert reasons(group) == ["hung"]


async def test_a_worker_that_is_stopped_while_it_has_the_lock_is_killed_before_6_seconds(
    on_sqlite, report
):
    group = on_sqlite.groups[0]
    frozen = group.workers()[0]
    async with Load(on_sqlite).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        await stop_once(lambda: blocks_writers(on_sqlite.store_url, frozen), frozen)
        stopped_at = time.monotonic()
        killed = await until(lambda: not is_alive(frozen), 60)
        await until(lambda: on_sqlite.is_whole(0), 10)
        await asyncio.sleep(AFTER_SECONDS)
    since = load.since(stopped_at + 6)
    report(since, killed=killed)

    await on_sqlite.check()
    assert longest(load.asked) <= STORE_SECONDS
    assert longest(since) <= LONGEST_SECONDS
    assert not refused(since)
    assert 4 <= killed <= 6
    assert reasons(group) == ["hung"]


async def test_a_stop_ends_in_time_while_a_worker_stands_still(groups, report):
    group = groups.groups[0]
    workers = group.workers()
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        await stop_without_lock(groups, workers[0])
        await until(lambda: is_shut_off(group), 10)
        asked_at = time.monotonic()
        send(signal.SIGTERM, group.pid)
        ended = await until(lambda: have_ended(group.pid, *workers), 60)
        await asyncio.sleep(1)
    since = load.since(asked_at + 1)
    report(since, ended=ended)

    await groups.check()
    assert ended <= 26  # drain_seconds, and those after which it is killed
    assert group.wait() == 1
    assert longest(since) <= LONGEST_SECONDS


@pytest.mark.parametrize(
    ("seconds", "with_supervisor"), [(20, False), (60, True)], ids=["workers", "group"]
)
async def test_a_group_that_stands_still_as_a_whole_goes_on_afterwards_with_all_its_workers(
    groups, report, seconds, with_supervisor
):
    group = groups.groups[0]
    workers = group.workers()
    stopped = [group.pid, *workers] if with_supervisor else workers
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        stopped_at = time.monotonic()
        await stop_without_lock(groups, *stopped)
        await asyncio.sleep(seconds)
        send(signal.SIGCONT, *stopped)
        await asyncio.sleep(AFTER_SECONDS)
        left = group.workers()
    since = load.since(stopped_at + 6)
    report(since)

    await groups.check()
    assert (sorted(left), groups.is_whole(0)) == (sorted(workers), True)
    assert (reasons(group), is_shut_off(group)) == ([], False)
    assert longest(since) <= LONGEST_SECONDS
    assert not refused(since)


@pytest.mark.parametrize(
    ("seconds", "with_supervisors"), [(20, False), (60, True)], ids=["workers", "groups"]
)
async def test_both_groups_go_on_with_all_their_workers_after_all_stood_still(
    groups, report, seconds, with_supervisors
):
    workers = [group.workers() for group in groups.groups]
    stopped = [pid for each in workers for pid in each]
    if with_supervisors:
        stopped += [group.pid for group in groups.groups]
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        await asyncio.to_thread(stop_running, *stopped)
        await asyncio.sleep(seconds)
        send(signal.SIGCONT, *stopped)
        goes_on = await until(groups.is_ready, 10)
        went_on_at = time.monotonic() + HEALTHY_SECONDS
        await asyncio.sleep(HEALTHY_SECONDS + AFTER_SECONDS)
        left = [group.workers() for group in groups.groups]
    since = load.since(went_on_at)
    report(since, goes_on=goes_on)

    await groups.check()
    assert [sorted(each) for each in left] == [sorted(each) for each in workers]
    assert [groups.is_whole(n) for n in (0, 1)] == [True, True]
    assert [reasons(group) for group in groups.groups] == [[], []]
    assert not any(map(is_shut_off, groups.groups))
    assert longest(since) <= LONGEST_SECONDS
    assert not refused(since)


async def test_the_workers_of_a_killed_supervisor_leave_within_two_seconds_and_close_the_port(
    groups, report
):
    group = groups.groups[0]
    workers = group.workers()
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        killed_at = time.monotonic()
        send(signal.SIGKILL, group.pid)
        ended = await until(lambda: have_ended(*workers), 10)
        refuses = await asyncio.to_thread(seconds_until_refused, groups.ports[0])
        await asyncio.sleep(AFTER_SECONDS)
        assert groups.is_whole(1)
    since = load.since(killed_at - 1)
    report(since, ended=ended)

    await groups.check()
    assert ended <= 2
    assert refuses <= 0.05
    assert longest(since) <= LONGEST_SECONDS
    assert not [one for one in since if one.status is None]
