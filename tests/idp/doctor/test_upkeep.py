"""What the doctor says of work that the service does by itself."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.doctor import upkeep
from idp.doctor.check import Installation
from idp.records import JOBS, Job
from storage import Insert


@pytest.fixture
def installation(server):
    service = server.service
    return Installation(config=service.config, clock=service.clock, store=service.store)


@pytest.fixture
def add(server):
    async def add_record(collection, record):
        await server.store.commit(Insert(collection, record))

    return add_record


def imported(id, state, created_at, held_until=None):
    times = {"created_at": created_at, "changed_at": created_at, "held_until": held_until}
    return Job(id=id, state=state, actor="admin", **times)


async def test_an_import_that_no_process_continues_is_late(server, installation, add):
    now = server.clock.now()
    await add(JOBS, imported("left", "running", now, held_until=now + timedelta(seconds=20)))

    assert (await upkeep.jobs_late(installation)).state == "ok"
    server.clock.advance(10 * 60 + 21)
    found = await upkeep.jobs_late(installation)

    assert (found.state, found.names, found.count) == ("warn", ["left"], 1)


async def test_an_import_that_waits_for_another_is_not_late(server, installation, add):
    now = server.clock.now()
    await add(JOBS, imported("first", "running", now, held_until=now + timedelta(hours=2)))
    await add(JOBS, imported("second", "queued", now))

    server.clock.advance(3600)
    assert (await upkeep.jobs_late(installation)).state == "ok"
    server.clock.advance(3600 + 11 * 60)

    assert (await upkeep.jobs_late(installation)).names == ["first", "second"]


async def test_an_import_that_nothing_is_before_begins_within_ten_minutes(
    server, installation, add
):
    await add(JOBS, imported("waiting", "queued", server.clock.now()))

    server.clock.advance(10 * 60)
    assert (await upkeep.jobs_late(installation)).state == "ok"
    server.clock.advance(1)

    assert (await upkeep.jobs_late(installation)).names == ["waiting"]
