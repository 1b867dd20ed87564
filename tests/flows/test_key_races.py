"""Keys and background work when many processes do the same at once, over each kind of store."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace

import pytest

from idp import changes
from idp.background import schedule as background_schedule
from idp.background.schedule import ScheduledJob
from idp.foundation.errors import FailedPrecondition
from idp.keys import algorithms
from idp.keys.key_ring import KeyRing
from idp.oauth import key_rotation
from tests.support import invariants
from tests.support.clock import SteppingClock
from tests.support.patience import loop_turns
from tests.support.service import shared_key, start_server, stop_server

AT_ONCE = 8


@pytest.fixture(params=["memory", "mongodb"])
def server(request, io_loop, monkeypatch):
    """A service over the store, a second old, that makes no RSA key twice."""
    numbers = itertools.count()
    monkeypatch.setattr(
        algorithms.rsa, "generate_private_key", lambda **_: shared_key(next(numbers) % 12)
    )
    on_mongodb = request.param == "mongodb"
    url = request.getfixturevalue("emptied_mongodb") if on_mongodb else "memory://"
    clock = SteppingClock()
    running, http = io_loop.run_sync(lambda: start_server(clock, store=url))
    clock.advance(1)
    yield running
    io_loop.run_sync(lambda: invariants.hold(running.store))
    io_loop.run_sync(lambda: stop_server(running, http))


@pytest.fixture
def processes(server):
    """The service as several processes know it: each has a key ring of its own."""
    one = server.service
    return [
        replace(one, keys=KeyRing(one.store, one.master_key, one.clock, 60))
        for _ in range(AT_ONCE)
    ]


async def states(server) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for key in await key_rotation.all_keys(server.service):
        found[key.algorithm, key.state] = found.get((key.algorithm, key.state), 0) + 1
    return found


async def test_many_who_want_an_algorithm_make_one_pair_of_keys(server, processes):
    await asyncio.gather(
        *[key_rotation.ensure(each, "ES256", actor="a test") for each in processes]
    )

    made = await states(server)
    assert (made["ES256", "active"], made["ES256", "next"]) == (1, 1)


@pytest.mark.full
async def test_many_who_rotate_do_it_once(server, processes):
    outcomes = await asyncio.gather(
        *[changes.run(each, key_rotation.rotate, actor="a test") for each in processes],
        return_exceptions=True,
    )

    assert [type(each) for each in outcomes].count(FailedPrecondition) == AT_ONCE - 1
    assert (await states(server))["RS256", "retired"] == 1


async def test_many_who_find_a_key_too_old_rotate_it_once(server, processes):
    server.clock.advance(31 * 86400)
    await asyncio.gather(
        *[key_rotation.maintain(each) for each in processes], return_exceptions=True
    )

    assert (await states(server))["RS256", "retired"] == 1


async def test_of_many_who_see_that_a_job_is_due_one_does_it(server, processes):
    begun = []

    async def work(service):
        begun.append(service)
        await loop_turns(20)

    for _ in range(3):
        turns = [
            background_schedule.take_turn(each, "sweep", ScheduledJob(60, work))
            for each in processes
        ]
        done = await asyncio.gather(*turns)
        assert sum(done) == 1
        server.clock.advance(60)

    assert len(begun) == 3
