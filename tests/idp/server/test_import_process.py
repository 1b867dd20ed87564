"""The process that works on an import, and what becomes of the job when it ends too soon."""

from __future__ import annotations

import asyncio

import pytest

from idp.records.jobs import JOBS
from idp.server import import_process
from idp.server.import_process import Importer
from tests.fire.background import importing
from tests.support.management.callers import instance_owner
from tests.support.patience import until
from tests.support.transfer.bulk import orgs, package


class Child:
    """A process that reads its assignment, and then ends with this exit code."""

    def __init__(self, code: int) -> None:
        self.code, self.has_ended = code, asyncio.Event()

    async def send(self, data):
        assert data.endswith(b"\n")

    async def read_line(self):
        return b""

    async def wait_until_ended(self):
        return None

    async def close(self, timeout_seconds):
        self.has_ended.set()
        return self.code


@pytest.fixture
def settings(tmp_path):
    return {"store": f"sqlite:///{tmp_path}/db.sqlite3"}


async def imported_by(child, server, monkeypatch) -> str:
    """The id of a job that was given to this child."""

    async def start():
        return child

    monkeypatch.setattr(import_process._Child, "start", start)
    return await importing.begun(server.service, package(*orgs(1)))


@pytest.mark.full
@pytest.mark.promise("faults: helper processes")
async def test_a_job_whose_process_does_not_start_fails_with_its_reason(
    server, visitor, monkeypatch
):
    owner = await instance_owner(server, visitor)
    id = await imported_by(Child(3), server, monkeypatch)
    importer = Importer(server.service)
    importer.wake()
    async with importer.running():

        async def has_failed():
            return (await server.store.get(JOBS, id)).state == "failed"

        await until(has_failed, "the end of the job")
    job = (await owner.get(f"/admin/v1/jobs/{id}")).json()

    assert job["slug"] == "import.not_started"
    assert "exit code 3" in job["reason"]
    assert job["resumedBy"] == f"idp job resume {id}"


@pytest.mark.promise("faults: helper processes")
async def test_a_job_whose_process_was_killed_before_it_began_waits_for_another(
    server, visitor, monkeypatch
):
    owner, child = await instance_owner(server, visitor), Child(-9)
    id = await imported_by(child, server, monkeypatch)
    importer = Importer(server.service)
    importer.wake()
    async with importer.running():
        await child.has_ended.wait()

    assert (await owner.get(f"/admin/v1/jobs/{id}")).json()["state"] == "JOB_STATE_QUEUED"
