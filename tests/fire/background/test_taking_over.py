"""Two servers over one store: of an import one has a child at a time, and when a server is killed
the other one goes on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter

import httpx
import pytest

from idp.records import EVENTS, JOB_BATCHES, JOBS, USERS
from idp.transfer.jobs import lifecycle as job_lifecycle
from tests.fire.background import importing
from tests.flows.conftest import at
from tests.support.programs.program import is_alive
from tests.support.servers.mongod import fresh_database
from tests.support.transfer.bulk import IMPORT

PEOPLE = 4000


@pytest.fixture(params=["sqlite", pytest.param("mongodb", marks=pytest.mark.load)])
def flags(request):
    if request.param == "sqlite":
        yield []
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield ["--store", url]


@pytest.fixture
def pair(start_program, flags):
    """Both are killed at the end: of one only a child may be left by then."""
    started = [start_program("--admin-pat", "pat", *flags) for _ in range(2)]
    yield started
    for program in started:
        program.kill()


async def begun(program) -> str:
    """The id of a job that the server has taken, and does not wait for."""
    async with httpx.AsyncClient(base_url=program.issuer, timeout=60) as http:
        page = await http.post(
            IMPORT,
            json={"dataOrgs": importing.package(PEOPLE), "timeout": "0s"},
            headers={"Authorization": f"Bearer {program.announcement['adminPat']}"},
        )
    assert page.status_code == 200, page.text
    return page.json()["jobId"]


async def until(store, id, what):
    """The job, as soon as it is so."""
    async with asyncio.timeout(120):
        while not what(job := await store.get(JOBS, id)):
            await asyncio.sleep(0.02)
    return job


def is_over_or_passed_on(job, others) -> bool:
    """Whether the job has ended, or is held by somebody else than these."""
    return job.state not in job_lifecycle.WAITING or job.holder not in others


async def ended(pid) -> None:
    async with asyncio.timeout(60):
        while is_alive(pid):
            await asyncio.sleep(0.02)


@pytest.mark.promise("import: jobs")
@pytest.mark.parametrize(
    "dies", [pytest.param("the server", marks=pytest.mark.load), "the server and its child"]
)
async def test_the_job_of_a_server_that_is_killed_is_gone_on_with_by_another(pair, dies):
    place = await at(pair[0])
    try:
        id = await begun(pair[0])
        held = await until(place.store, id, lambda job: job.position)
        busy, idle = sorted(pair, key=lambda program: len(program.workers()), reverse=True)
        (child,) = busy.workers()
        assert idle.workers() == []

        os.kill(busy.pid, signal.SIGKILL)
        if dies == "the server and its child":
            os.kill(child, signal.SIGKILL)

        taken = await until(
            place.store, id, lambda job: is_over_or_passed_on(job, {held.holder, None})
        )
        assert taken.state == "running"  # there is one left who could take it
        await ended(child)
        job = await until(place.store, id, lambda job: job.state not in job_lifecycle.WAITING)
        await everything_was_done_once(place.store, job)
    finally:
        await place.store.close()


async def everything_was_done_once(store, job):
    events = [each async for each in store.scan(EVENTS)]
    births = Counter(each.record_id for each in events if dict(each.payload).get("import"))
    batches = await store.find(JOB_BATCHES, {"job_id": job.id}, order="first", limit=1000)
    made = [id for batch in batches.records for type, _, (id, *_) in batch.made if "user" in type]
    people = [each.id async for each in store.scan(USERS) if each.id.startswith("u|")]
    assert (job.state, job.position) == ("finished_with_errors", job.total)
    assert job.created + job.failed == job.total
    assert len(people) == job.created - 4
    assert sorted(made) == sorted(people)
    assert {births[id] for id in people} == {1}
