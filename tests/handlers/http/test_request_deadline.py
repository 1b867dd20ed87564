"""The deadline of a request, from its arrival to the beginning of its answer."""

from __future__ import annotations

import asyncio
import math

import pytest

from handlers.account import data
from handlers.http.request_slot import RequestSlot
from idp.foundation.background_tasks import BackgroundTasks
from idp.foundation.clock import SystemTimer
from idp.limits.admission import GroupSlots, RequestGroup
from idp.limits.turns import Turns
from storage import deadline
from storage.deadline import Deadline
from storage.mongo.driver import Driver
from storage.sqlite import SqliteStore
from storage.sqlite.locks import FileLock
from tests.support.management.callers import refused
from tests.support.random import SeededRandom
from tests.support.store.both_stores import on_both_stores
from tests.support.store.both_stores import store_as_marked as settings  # noqa: F401 - a fixture

PROJECT = "/management/v1/projects"
ONE_PLACE = RequestGroup("pages", max_running=1, max_waiting=4, max_wait_seconds=30)


@pytest.fixture
def silent(server, monkeypatch):
    """Called with True, the store answers no write; called with False, it does again."""
    again = asyncio.Event()
    genuine = Driver.write

    async def write(driver, *operations):
        await again.wait()
        return await genuine(driver, *operations)

    def switch(is_silent):
        if not isinstance(server.store, SqliteStore):
            again.clear() if is_silent else again.set()
            monkeypatch.setattr(Driver, "write", write)
        elif is_silent:
            lock = FileLock(f"{server.store._path}-lock")
            held.append((lock, lock.held()))
            held[-1][1].__enter__()
        else:
            lock, block = held.pop()
            block.__exit__(None, None, None)
            lock.close()

    held = []
    yield switch
    if held:
        switch(False)


@on_both_stores
@pytest.mark.promise("faults: store away")
@pytest.mark.parametrize("header", ["X-Request-Id", "Idempotency-Key"])
async def test_while_the_store_answers_no_write_requests_are_503_at_their_deadline(
    server, owner, silent, monkeypatch, header
):
    assert deadline.REQUEST_SECONDS < 8
    monkeypatch.setattr(deadline, "REQUEST_SECONDS", 0.5)
    owner.visitor.may_fail = True
    silent(True)
    pages = await asyncio.gather(
        *(owner.post(PROJECT, {"name": f"Shop {n}"}, **{header: f"k{n}"}) for n in range(3))
    )
    silent(False)

    for page in pages:
        assert refused(page, 503, 14) == {"": "unavailable"}
        assert page.headers["Retry-After"]
    monkeypatch.undo()
    assert (await owner.post(PROJECT, {"name": "Other"})).status == 200


async def test_the_wait_for_a_place_is_part_of_the_time():
    now = [0.0]
    places = GroupSlots(ONE_PLACE, SeededRandom(), Turns(), SystemTimer())
    first, second = RequestSlot(), RequestSlot()
    first.enter(places, "a")
    deadline.begin(Deadline(7.5, lambda: now[0]))
    second.enter(places, "b")
    waiting = asyncio.create_task(second.wait())
    await asyncio.sleep(0)
    now[0] += 2
    first.response_sent()
    await waiting
    now[0] += 60

    assert deadline.seconds_left() == 5.5


async def test_a_background_task_that_a_request_starts_has_no_deadline():
    left = []

    async def work():
        left.append(deadline.seconds_left())

    deadline.begin(Deadline(7.5))
    await BackgroundTasks().run(work())

    assert left == [math.inf]
    assert deadline.seconds_left() <= 7.5


async def test_the_reading_of_a_stream_has_no_deadline_but_its_authentication_has(
    server, owner, monkeypatch
):
    left = {"get_many": [], "find": []}
    noted(monkeypatch, server.store, left)
    page = await owner.get("/v2/events/stream")

    assert page.status == 200
    assert left["get_many"][0] <= deadline.REQUEST_SECONDS
    assert left["find"][-1] == math.inf


def noted(monkeypatch, store, left):
    """Notes how much time is left at each call of these methods of the store."""

    def wrapped(name):
        genuine = getattr(store, name)

        async def call(*values, **options):
            left[name].append(deadline.seconds_left())
            return await genuine(*values, **options)

        return call

    for name in left:
        monkeypatch.setattr(store, name, wrapped(name))


async def test_an_answer_whose_beginning_was_sent_has_no_deadline(signed_in, monkeypatch):
    left = []

    async def pieces(service, subject):
        left.append(deadline.seconds_left())
        yield b" " * 100_000
        left.append(deadline.seconds_left())
        yield b"{}"

    monkeypatch.setattr(data.personal_data, "document_chunks", pieces)
    page = await signed_in.get("/ui/account/data/download")

    assert page.text.strip() == "{}"
    assert left[0] <= deadline.REQUEST_SECONDS
    assert left[1] == math.inf


async def test_requests_of_one_connection_have_a_deadline_each(server, owner, monkeypatch):
    left = {"get_following": [], "commit": []}
    noted(monkeypatch, server.store, left)
    for n in range(3):
        await owner.post(PROJECT, {"name": f"Shop {n}"})
    of_requests = [each for each in left["commit"] if each != math.inf]

    assert len(of_requests) == 3
    assert of_requests == pytest.approx([deadline.REQUEST_SECONDS] * 3, abs=1)
    assert left["get_following"] == pytest.approx([deadline.REQUEST_SECONDS] * 3, abs=1)
