"""Server processes that look for jobs: one of them starts a child for one that waits."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from idp.server import import_process
from idp.server.import_process import Importer
from idp.transfer.jobs import lifecycle as job_lifecycle
from storage import Unavailable
from tests.support import patience
from tests.support.patience import until
from tests.support.transfer.packaged import held, stored


@pytest.fixture
def settings(tmp_path):
    return {"store": f"sqlite:///{tmp_path}/db.sqlite3"}


class Watched(Importer):
    """Notes what it would start a child for, and has done its work at once."""

    def __init__(self, service, started):
        super().__init__(service)
        self.looks, self._started = 0, started

    async def _claim_next(self):
        self.looks += 1
        self.wake()
        await asyncio.sleep(0)
        return await super()._claim_next()

    async def _run_child(self, assignment):
        self._started.append(assignment)


async def looked(importers, times):
    """Until each of them has looked so many times more."""
    wanted = [each.looks + times for each in importers]
    async with asyncio.timeout(patience.SECONDS):
        await until(
            lambda: all(each.looks >= n for each, n in zip(importers, wanted, strict=True))
        )


async def test_of_many_processes_one_starts_a_child_for_a_job(server):
    started = []
    importers = [Watched(server.service, started) for _ in range(4)]
    async with AsyncExitStack() as stack:
        for each in importers:
            await stack.enter_async_context(each.running())
        hold = await held(server.service, source=None)
        await hold.release()
        for each in importers:
            each.wake()
        await looked(importers, 5)

    (assignment,) = started
    job = await stored(server.service, hold.job)
    assert (assignment.job_id, assignment.holder) == (job.id, job.holder)
    assert assignment.config == server.service.config


async def test_a_job_whose_child_never_began_is_anybodys_when_its_lease_is_over(server):
    started = []
    importer = Watched(server.service, started)
    hold = await held(server.service, source=None)
    await hold.release()
    async with importer.running():
        importer.wake()
        await looked([importer], 5)
        server.clock.advance(job_lifecycle.LEASE.total_seconds())
        await looked([importer], 5)

    assert [each.job_id for each in started] == [hold.job.id] * 2
    assert len({each.holder for each in started}) == 2


@pytest.mark.parametrize("error", [OSError("no process more"), Unavailable("gone")])
async def test_who_cannot_start_a_child_looks_again_later(server, monkeypatch, error):
    monkeypatch.setattr(import_process, "_RETRY_SECONDS", 0.01)
    importer = Watched(server.service, [])

    async def refused(_):
        raise error

    importer._run_child = refused
    hold = await held(server.service, source=None)
    await hold.release()
    async with importer.running():
        importer.wake()
        await looked([importer], 5)

    assert (await stored(server.service, hold.job)).state == "queued"
