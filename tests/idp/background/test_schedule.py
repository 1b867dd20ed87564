"""Background work: by one process at a time, once in its interval, and again when it failed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from idp.background import schedule as background_schedule
from idp.background.schedule import MAX_RUN_SECONDS, RETRY_SECONDS, ScheduledJob
from idp.records import LEASES
from storage import Unavailable
from tests.support.patience import loop_turns, until
from tests.support.store.stored import everything


class Work:
    """A job that counts how often it was begun, and does what it is told to."""

    def __init__(self, does=None) -> None:
        self.begun, self._does = 0, does

    async def __call__(self, service) -> None:
        self.begun += 1
        if self._does is not None:
            await self._does()


@pytest.fixture
def service(server):
    return server.service


@pytest.fixture
def lines(monkeypatch):
    """What the runner logs: level, event and fields."""
    logged = []

    class Log:
        def __getattr__(self, level):
            return lambda event, **fields: logged.append((level, event, fields))

    monkeypatch.setattr(background_schedule, "_log", Log())
    return logged


def turn(service, work, interval_seconds=60):
    return background_schedule.take_turn(service, "sweep", ScheduledJob(interval_seconds, work))


async def test_of_many_processes_one_takes_the_turn(service):
    work = Work(lambda: loop_turns(20))
    done = await asyncio.gather(*[turn(replace(service), work) for _ in range(8)])

    assert sorted(done) == [False] * 7 + [True]
    assert work.begun == 1


async def test_a_job_is_due_again_an_interval_after_it_was_done(server, service):
    work = Work()
    done = [await turn(service, work)]
    server.clock.advance(59)
    done.append(await turn(service, work))
    server.clock.advance(1)
    done.append(await turn(service, work))

    assert done == [True, False, True]
    assert work.begun == 2


@pytest.mark.parametrize("set_back_seconds", [7200, 10_800])
async def test_after_the_clock_was_set_back_a_job_is_due_at_once_and_then_as_usual(
    server, service, set_back_seconds
):
    work = Work()
    await turn(service, work)
    server.clock.advance(-set_back_seconds)
    begun = [await turn(replace(service), work) for _ in range(3)]
    server.clock.advance(60)

    assert begun == [True, False, False]
    assert await turn(service, work)


async def test_of_many_processes_one_takes_the_turn_after_the_clock_was_set_back(server, service):
    work = Work(lambda: loop_turns(20))
    await turn(service, work)
    server.clock.advance(-7200)
    done = await asyncio.gather(*[turn(replace(service), work) for _ in range(8)])

    assert sorted(done) == [False] * 7 + [True]


async def test_a_machine_whose_clock_is_a_minute_behind_leaves_the_turn_to_the_other(
    server, service
):
    work = Work()
    await turn(service, work)
    server.clock.advance(-60)

    assert not await turn(service, work)


async def test_a_turn_changes_nothing_but_whose_turn_it_is(service):
    before = await everything(service.store)
    await turn(service, Work())

    assert await everything(service.store) == before
    assert [lease.id async for lease in service.store.scan(LEASES)] == ["sweep"]


async def test_jobs_have_turns_of_their_own(service):
    work = Work()
    for name in ("one", "other"):
        assert await background_schedule.take_turn(service, name, ScheduledJob(60, work))

    assert work.begun == 2


async def test_while_somebody_is_at_it_nobody_else_begins(server, service):
    is_begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow():
        is_begun.set()
        await may_end.wait()

    work = Work(slow)
    first = asyncio.create_task(turn(service, work, interval_seconds=1))
    await is_begun.wait()
    server.clock.advance(MAX_RUN_SECONDS - 1)
    assert not await turn(service, work, interval_seconds=1)
    may_end.set()

    assert await first
    assert work.begun == 1


async def test_the_turn_of_a_process_that_died_in_it_ends_by_itself(server, service, monkeypatch):
    async def dies(*_):
        return None

    with monkeypatch.context() as patch:
        patch.setattr(background_schedule, "_release", dies)
        await turn(service, Work())
    server.clock.advance(MAX_RUN_SECONDS - 1)
    early = await turn(service, Work())
    server.clock.advance(1)

    assert not early
    assert await turn(service, Work())


@pytest.mark.parametrize(
    ("error", "level"), [(RuntimeError("broken"), "error"), (Unavailable("away"), "warning")]
)
async def test_a_job_that_fails_is_logged_and_done_again_soon(
    server, service, lines, error, level
):
    async def fail():
        raise error

    failed = await turn(service, Work(fail))
    server.clock.advance(RETRY_SECONDS - 1)
    early = await turn(service, Work())
    server.clock.advance(1)

    assert (failed, early) == (False, False)
    assert [(each[0], each[2]["job"]) for each in lines] == [(level, "sweep")]
    assert await turn(service, Work())


async def test_a_job_that_takes_too_long_is_cut_off(service, lines, monkeypatch):
    monkeypatch.setattr(background_schedule, "MAX_RUN_SECONDS", 0.05)
    done = await turn(service, Work(asyncio.Event().wait))

    assert not done
    assert [type(each[2]["exc_info"]) for each in lines] == [TimeoutError]


async def test_a_stop_amid_a_job_gives_the_turn_back(server, service):
    is_begun = asyncio.Event()

    async def endless():
        is_begun.set()
        await asyncio.Event().wait()

    stopped = asyncio.create_task(turn(service, Work(endless)))
    await is_begun.wait()
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    server.clock.advance(RETRY_SECONDS)

    assert await turn(service, Work())


async def test_a_turn_that_went_to_somebody_else_is_not_taken_from_them(server, service):
    is_begun, may_end = asyncio.Event(), asyncio.Event()

    async def stalled():
        is_begun.set()
        await may_end.wait()

    first = asyncio.create_task(turn(service, Work(stalled), interval_seconds=1))
    await is_begun.wait()
    server.clock.advance(MAX_RUN_SECONDS)
    assert await turn(service, Work(), interval_seconds=600)
    may_end.set()
    await first
    server.clock.advance(599)

    assert not await turn(service, Work())


async def elapse(server, timer, seconds):
    """So many seconds pass for the service, half a second at a time."""
    for _ in range(2 * seconds):
        server.clock.advance(0.5)
        await timer.advance(0.5)


async def test_within_the_block_jobs_are_done_and_after_it_none(
    server, service, timer, monkeypatch
):
    work, other = Work(), Work(asyncio.Event().wait)
    jobs = {"work": ScheduledJob(1, work), "other": ScheduledJob(1, other)}
    monkeypatch.setattr(background_schedule, "JOBS", jobs)
    before = asyncio.all_tasks()
    async with background_schedule.running(service):
        while work.begun < 5:
            await elapse(server, timer, 2)
            await until(lambda: other.begun and timer.sleepers)
    begun = work.begun
    await elapse(server, timer, 60)

    assert asyncio.all_tasks() == before
    assert other.begun == 1
    assert work.begun == begun


async def test_a_store_that_is_away_is_asked_again_after_ten_seconds(
    server, service, timer, lines, monkeypatch
):
    work, get_many, failures = Work(), service.store.get_many, iter([Unavailable("away")] * 3)

    async def ailing(keys):
        if error := next(failures, None):
            raise error
        return await get_many(keys)

    monkeypatch.setattr(service.store, "get_many", ailing)
    monkeypatch.setattr(background_schedule, "JOBS", {"work": ScheduledJob(60, work)})
    reported = []
    async with background_schedule.running(service):
        for seconds in (2, 11, 1, 12):
            await elapse(server, timer, seconds)
            reported.append(len(lines))
        early = work.begun
        await elapse(server, timer, 12)
        await until(lambda: work.begun)

    assert reported == [1, 1, 2, 3]
    assert early == 0
    assert [each[0] for each in lines] == ["warning"] * 3
