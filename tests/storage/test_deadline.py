"""The deadline of a request: its calls of the store take no longer than it, all together."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
from contextlib import suppress
from datetime import timedelta

import pytest

from storage import Insert, Unavailable, Unknown, Update, deadline
from storage.confirmed_commit import commit_confirmed
from storage.deadline import Deadline
from storage.mongo import faults
from storage.sqlite.locks import FileLock
from tests.storage.mongo.mongo_stores import timed
from tests.storage.records import ENTRIES, USERS, Entry, user
from tests.support import patience

MINUTE = timedelta(minutes=1)
SHORT = 0.2
WRITES = {
    "one write": [Insert(ENTRIES, Entry(id="e"))],
    "two writes": [Insert(ENTRIES, Entry(id="e")), Insert(USERS, user("a"))],
}


class Watch:
    """A monotonic clock that stands still until a test moves it."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch():
    return Watch()


def in_request(work, given: Deadline):
    """Runs the work as a task with this deadline."""
    context = contextvars.copy_context()
    context.run(deadline.begin, given)
    return asyncio.get_running_loop().create_task(work, context=context)


# The clock.


def test_only_the_time_within_its_blocks_counts(watch):
    limit = Deadline(7.5, watch)
    with limit:
        watch.now += 3
    watch.now += 60
    with limit:
        watch.now += 2

        assert limit.seconds_left == 2.5
    assert limit.seconds_left == 2.5


def test_blocks_that_overlap_count_once(watch):
    limit = Deadline(7.5, watch)
    with limit:
        watch.now += 1
        with limit:
            watch.now += 2
        watch.now += 1

    assert limit.seconds_left == 3.5


def test_calls_that_are_answered_at_once_count_nothing_however_many_there_are(watch):
    limit = Deadline(7.5, watch)
    for _ in range(100):
        with limit:
            watch.now += 0.4

    assert limit.seconds_left == 7.5
    with limit:
        watch.now += 0.4
        assert limit.seconds_left == pytest.approx(7.1)


def test_a_call_that_reaches_the_deadline_counts_however_near_it_was(watch):
    limit = Deadline(0.2, watch)
    with limit:
        watch.now += 0.2

    assert limit.seconds_left == pytest.approx(0)


def test_time_beyond_the_deadline_is_none(watch):
    limit = Deadline(7.5, watch)
    with limit:
        watch.now += 20

    assert limit.seconds_left == 0


def test_a_task_without_a_deadline_has_the_limit_of_the_call():
    with deadline.TimedCall(8.0) as seconds:
        assert seconds == 8.0
    assert deadline.seconds_left(8.0) == 8.0


async def test_calls_have_what_is_left_and_none_begins_without_time(watch):
    async def request():
        with deadline.TimedCall(8.0) as first:
            watch.now += 5
        with deadline.TimedCall(8.0) as second:
            watch.now += 2.5
        with pytest.raises(Unavailable), deadline.TimedCall(8.0):
            raise AssertionError("it began")
        return first, second

    assert await in_request(request(), Deadline(7.5, watch)) == (7.5, 2.5)


async def test_what_a_request_begins_elsewhere_shares_its_deadline_until_that_ends(watch):
    async def request():
        with deadline.running():
            watch.now += 7
            left = await asyncio.create_task(left_to_me())
        deadline.end()
        return left, await left_to_me()

    async def left_to_me():
        return deadline.seconds_left(8.0)

    assert await in_request(request(), Deadline(7.5, watch)) == (0.5, 8.0)


# The contract of a store.


@pytest.mark.parametrize("writes", WRITES.values(), ids=WRITES)
async def test_without_time_nothing_is_written(store, writes):
    with pytest.raises(Unavailable):
        await in_request(store.commit(*writes), Deadline(0))
    (outcome,) = await in_request(store.commit_each([writes]), Deadline(0))
    with pytest.raises(Unavailable):
        await in_request(store.increment("k", window=MINUTE), Deadline(0))

    assert isinstance(outcome, Unavailable)
    assert await store.get_many([(ENTRIES, "e"), (USERS, "a")]) == [None, None]
    assert (await store.increment("k", window=MINUTE)).n == 1


@pytest.mark.parametrize("writes", WRITES.values(), ids=WRITES)
async def test_with_time_everything_is_as_without_a_deadline(store, writes):
    async def request():
        await commit_confirmed(store, *writes)
        await store.increment("k", window=MINUTE)
        return await store.get(ENTRIES, "e"), await store.count(ENTRIES)

    assert await in_request(request(), Deadline(60)) == (Entry(id="e"), 1)


async def test_a_request_without_time_takes_nothing_from_others(store):
    """They share its commands."""
    await store.commit(Insert(USERS, user("a")))
    hasty = [in_request(store.get(USERS, "a"), Deadline(0.0001)) for _ in range(20)]
    others = await asyncio.gather(*(store.get(USERS, "a") for _ in range(20)))
    outcomes = await asyncio.gather(*hasty, return_exceptions=True)

    assert others == [user("a")] * 20
    assert all(each == user("a") or isinstance(each, Unavailable) for each in outcomes)


# A store that does not answer: MongoDB.


READS = {
    "get": lambda store: store.get(USERS, "a"),
    "get_many": lambda store: store.get_many([(USERS, "a"), (ENTRIES, "e")]),
    "find": lambda store: store.find(USERS, {}),
    "count": lambda store: store.count(USERS),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
async def test_a_read_that_mongodb_does_not_answer_ends_at_the_deadline(faulty, read):
    faulty.fail("find", "aggregate", blockConnection=True, blockTimeMS=1000)
    with timed(0.8), pytest.raises(Unavailable):
        await in_request(read(faulty), Deadline(SHORT))


@pytest.mark.parametrize("read", READS.values(), ids=READS)
async def test_a_read_ends_at_the_deadline_even_if_the_driver_does_not_when_it_is_cancelled(
    faulty, monkeypatch, read
):
    free = asyncio.Event()

    async def stubborn(*arguments, **options):
        while not free.is_set():
            with suppress(asyncio.CancelledError):
                await free.wait()
        return []

    driver = faulty._open.driver
    monkeypatch.setattr(driver, "find", stubborn)
    monkeypatch.setattr(driver, "aggregate", stubborn)
    monkeypatch.setattr(driver.collection("users"), "count_documents", stubborn)
    try:
        async with asyncio.timeout(patience.SECONDS):
            with timed(0.8), pytest.raises(Unavailable):
                await in_request(read(faulty), Deadline(SHORT))
    finally:
        free.set()


async def test_a_shared_read_that_fails_after_all_its_callers_gave_up_is_not_reported(
    faulty, monkeypatch, caplog
):
    monkeypatch.setattr(faults.read, "__defaults__", (2 * SHORT,))
    faulty.fail("find", "aggregate", blockConnection=True, blockTimeMS=1000)
    reads = [in_request(faulty.get(USERS, "a"), Deadline(SHORT)) for _ in range(3)]
    outcomes = await asyncio.gather(*reads, return_exceptions=True)
    await faulty._open._reads.drain()
    gc.collect()

    assert [type(each) for each in outcomes] == [Unavailable] * 3
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


@pytest.mark.parametrize("writes", WRITES.values(), ids=WRITES)
async def test_a_write_that_mongodb_does_not_answer_is_unknown_at_the_deadline(faulty, writes):
    faulty.fail("insert", blockConnection=True, blockTimeMS=1000)
    with timed(0.8), pytest.raises(Unknown) as caught:
        await in_request(commit_confirmed(faulty, *writes), Deadline(SHORT))

    while not await faulty.get(ENTRIES, "e"):
        await asyncio.sleep(0.02)
    assert await faulty.applied(caught.value.unit) is True


async def test_a_count_that_mongodb_does_not_answer_is_unknown_at_the_deadline(faulty):
    faulty.fail("findAndModify", blockConnection=True, blockTimeMS=1000)
    with timed(0.8), pytest.raises(Unknown):
        await in_request(faulty.increment("k", window=MINUTE), Deadline(SHORT))


async def test_an_outcome_that_is_asked_for_again_and_again_stays_unknown_at_the_deadline(lossy):
    """MongoDB does everything, and each answer is lost."""
    await lossy.commit(Insert(USERS, user("a")))
    lossy.proxy.lost.update(update=10_000)
    with timed(2.5), pytest.raises(Unknown) as caught:
        await in_request(
            commit_confirmed(lossy, Update(USERS, "a", increment={"n": 1})), Deadline(1)
        )
    lossy.proxy.lost.clear()

    assert await lossy.applied(caught.value.unit) is True
    assert (await lossy.get(USERS, "a")).n == 1


async def test_of_writes_that_wait_for_their_turn_those_that_were_not_sent_are_withdrawn(faulty):
    """Those that share a record are sent one after the other."""
    await faulty.commit(Insert(USERS, user("a")))
    faulty.fail("update", blockConnection=True, blockTimeMS=1000)
    write = Update(USERS, "a", increment={"n": 1})
    outcomes = await asyncio.gather(
        *(in_request(faulty.commit(write), Deadline(SHORT)) for _ in range(5)),
        return_exceptions=True,
    )

    assert sorted(type(each).__name__ for each in outcomes) == ["Unavailable"] * 4 + ["Unknown"]
    await faulty.commit(write)
    assert (await faulty.get(USERS, "a")).n == 2


# A store that does not answer: SQLite, whose file another process locks.


@pytest.fixture
def locked(sqlite, tmp_path):
    """The SQLite store, while another process has its turn at writing."""
    lock = FileLock(f"{tmp_path}/db.sqlite3-lock")
    with lock.held():
        yield sqlite
    lock.close()


@pytest.mark.load
@pytest.mark.parametrize("writes", WRITES.values(), ids=WRITES)
async def test_a_write_to_a_locked_file_is_unknown_at_the_deadline(locked, writes):
    with timed(0.8), pytest.raises(Unknown):
        await in_request(commit_confirmed(locked, *writes), Deadline(SHORT))


async def test_a_locked_file_is_read_without_time(locked):
    assert await in_request(locked.get(USERS, "a"), Deadline(0)) is None
