"""/admin/v1/jobs: how imports stand, their problems page by page, ended and gone on with."""

from __future__ import annotations

from datetime import timedelta

import pytest

from idp.records import (
    EVENTS,
    JOB_BATCHES,
    JOB_PROBLEMS,
    JOBS,
    PACKAGE_PARTS,
    USERS,
    JobOptions,
)
from idp.transfer.jobs import cleanup as job_cleanup
from idp.transfer.jobs import lifecycle as job_lifecycle
from tests.support.management.callers import refused
from tests.support.samples.imports import waiting
from tests.support.store.audit import events_agree
from tests.support.store.stored import count
from tests.support.transfer.bulk import JOBS as PATH
from tests.support.transfer.bulk import imported, orgs, package
from tests.support.transfer.packaged import held


async def test_a_job_reports_its_progress(server, owner):
    found = await imported(owner, package(*orgs(3), {"orgId": "bad", "org": {}}))

    job = (await owner.get(f"{PATH}/{found['jobId']}")).json()

    assert (job["id"], job["type"]) == (found["jobId"], "JOB_TYPE_IMPORT")
    assert job["state"] == "JOB_STATE_FINISHED_WITH_ERRORS"
    assert (job["total"], job["done"], job["created"], job["failed"]) == (4, 4, 3, 1)
    assert job["creationDate"] <= job["changeDate"] == job["finishDate"]


async def test_problems_are_listed_page_by_page(server, owner):
    rows = [{"orgId": f"b{n}", "org": {"name": 7, "x": n}} for n in range(5)]
    found = await imported(owner, package(*rows))
    path, told, cursor = f"{PATH}/{found['jobId']}/errors", [], ""
    while True:
        page = (await owner.get(f"{path}?limit=3&cursor={cursor}")).json()
        told += page["result"]
        cursor = page.get("nextCursor")
        if not cursor:
            break

    assert [one["row"] for one in told] == [n // 2 + 1 for n in range(10)]
    assert set(told[0]) >= {"row", "type", "id", "slug", "field", "message", "fix"}
    assert [one.get("isWarning", False) for one in told[:2]] == [True, False]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("limit=1&limit=2", "limit"),
        ("cursor=x", "cursor"),
        ("page=2", "page"),
        ("cursor=%ff", "cursor"),
    ],
)
async def test_a_page_that_is_none_is_refused(server, owner, query, field):
    found = await imported(owner, package(*orgs(1)))

    page = await owner.get(f"{PATH}/{found['jobId']}/errors?{query}")

    assert [*refused(page, 400, 3)] == [field]


async def test_a_job_that_is_cancelled_before_it_began_stores_nothing(server, owner):
    id = await waiting(server, *orgs(3))

    job = (await owner.post(f"{PATH}/{id}/_cancel", {})).json()

    assert job["state"] == "JOB_STATE_CANCELLED"
    assert refused(await owner.post(f"{PATH}/{id}/_cancel", {}), 400, 9) == {"": "job.ended"}
    await events_agree(server.store)


@pytest.mark.promise("import: jobs")
async def test_a_cancelled_job_is_gone_on_with(server, owner):
    id = await waiting(server, *orgs(3))
    await owner.post(f"{PATH}/{id}/_cancel", {})

    assert (await owner.post(f"{PATH}/{id}/_resume", {})).json()["state"] == "JOB_STATE_QUEUED"
    await server.service.background_tasks.finished()

    job = (await owner.get(f"{PATH}/{id}")).json()
    assert (job["state"], job["created"]) == ("JOB_STATE_SUCCEEDED", 3)
    assert refused(await owner.post(f"{PATH}/{id}/_resume", {}), 400, 9) == {"": "job.ended"}
    await events_agree(server.store)


async def test_a_job_that_somebody_works_on_stops_when_they_look(server, owner):
    id = await waiting(server, *orgs(3))
    hold = await job_lifecycle.claim(server.service, await server.store.get(JOBS, id), "here")

    job = (await owner.post(f"{PATH}/{id}/_cancel", {})).json()

    assert (job["state"], job["isHeld"]) == ("JOB_STATE_QUEUED", True)
    assert await hold.should_stop()


async def test_jobs_are_found_by_their_state(server, owner):
    first = await imported(owner, package(*orgs(1)))
    server.clock.advance(1)
    id = await waiting(server, *orgs(3))

    everyone = (await owner.post(f"{PATH}/_search", {})).json()
    queries = [{"stateQuery": {"state": "JOB_STATE_QUEUED"}}]
    queued = (await owner.post(f"{PATH}/_search", {"queries": queries})).json()

    assert [one["id"] for one in everyone["result"]] == [first["jobId"], id]
    assert [one["id"] for one in queued["result"]] == [id]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/nobody", None),
        ("GET", "/nobody/errors", None),
        ("POST", "/nobody/_cancel", {}),
        ("POST", "/nobody/_resume", {}),
    ],
)
async def test_a_job_that_is_not_there_is_not_found(server, owner, method, path, body):
    page = await owner.request(method, f"{PATH}{path}", body)

    assert refused(page, 404, 5) == {"": "job.not_found"}


async def test_the_package_of_a_job_that_is_done_is_gone(server, owner):
    await imported(owner, package(*orgs(2)))
    await server.service.background_tasks.finished()

    assert await server.store.count(PACKAGE_PARTS) == 0


async def test_the_package_of_a_cancelled_job_goes_after_a_day(server, owner):
    id = await waiting(server, *orgs(3))
    await owner.post(f"{PATH}/{id}/_cancel", {})

    await job_cleanup.clean_up(server.service)
    assert await server.store.count(PACKAGE_PARTS) == 1
    server.clock.advance(timedelta(days=1, seconds=1).total_seconds())
    await job_cleanup.clean_up(server.service)

    assert await server.store.count(PACKAGE_PARTS) == 0
    assert not job_lifecycle.can_be_resumed(await server.store.get(JOBS, id))


async def test_a_job_is_removed_after_thirty_days_with_its_report(server, owner):
    await imported(owner, package(*orgs(3), {"orgId": "bad", "org": {}}))
    await server.service.background_tasks.finished()
    server.clock.advance(timedelta(days=30, seconds=1).total_seconds())

    await job_cleanup.clean_up(server.service)

    left = await count(server.store)
    assert {JOBS.name, JOB_PROBLEMS.name, JOB_BATCHES.name} & set(left) == set()
    events = [one async for one in server.store.scan(EVENTS) if one.collection == JOBS.name]
    assert {one.sequence: one.type for one in events}[3] == "import.deleted"


async def test_the_speed_of_a_job_is_that_of_the_rows_since_it_was_resumed(server, owner):
    hold = await held(server.service)
    await hold.store_values(state="running", total=100, position=40)
    await hold.store_values(worked_since=server.clock.now(), worked_from=40)
    path = f"{PATH}/{hold.job.id}"
    before = (await owner.get(path)).json()
    server.clock.advance(4)
    await hold.store_values(position=50)

    job = (await owner.get(path)).json()

    assert "rowsPerSecond" not in before
    assert "remainingTime" not in before
    assert (job["rowsPerSecond"], job["remainingTime"], job["isHeld"]) == (2.5, "20s", True)
    server.clock.advance(job_lifecycle.LEASE.total_seconds())
    assert "rowsPerSecond" not in (await owner.get(path)).json()


async def test_a_job_reports_what_was_requested_and_by_whom(server, owner):
    found = await imported(owner, package(*orgs(1), dryRun=True, update=True, fix=True))

    job = (await owner.get(f"{PATH}/{found['jobId']}")).json()

    assert (job["dryRun"], job["update"], job["fix"]) == (True, True, True)
    assert (await server.store.get(USERS, job["actor"])).profile.display_name == job["actorName"]


async def test_a_local_file_whose_process_is_gone_waits_for_who_has_it(server, owner):
    hold = await held(server.service, source="/tmp/all of it.json", updates=True)
    await hold.store_values(state="running", total=100, position=40)
    path = f"{PATH}/{hold.job.id}"
    alive = (await owner.get(path)).json()
    server.clock.advance(job_lifecycle.LEASE.total_seconds())

    job = (await owner.get(path)).json()

    assert (alive["state"], alive.get("resumedBy")) == ("JOB_STATE_RUNNING", None)
    assert (job["state"], job["source"]) == ("JOB_STATE_INTERRUPTED", "/tmp/all of it.json")
    assert job["resumedBy"] == "idp import '/tmp/all of it.json' --update --resume"
    assert await job_lifecycle.next_job(server.service) is None


async def test_one_that_nobody_goes_on_with_is_forgotten_after_thirty_days(server):
    hold = await held(server.service)
    server.clock.advance(timedelta(days=30).total_seconds())
    await job_cleanup.clean_up(server.service)
    assert await server.store.get(JOBS, hold.job.id)
    server.clock.advance(1)

    await job_cleanup.clean_up(server.service)

    assert await server.store.get(JOBS, hold.job.id) is None
    await events_agree(server.store)


@pytest.mark.parametrize(
    ("error_code", "can"),
    [
        ("internal", True),
        ("import.not_started", True),
        ("import.package_lost", True),
        ("json.syntax", False),
    ],
)
async def test_what_failed_for_its_package_is_not_gone_on_with(server, owner, error_code, can):
    id = await waiting(server, *orgs(3))
    hold = await job_lifecycle.claim(server.service, await server.store.get(JOBS, id), "here")
    await hold.end("failed", error_code, "orgs: it is none", "orgs")

    job = (await owner.get(f"{PATH}/{id}")).json()
    resumed = await owner.post(f"{PATH}/{id}/_resume", {})
    await server.service.background_tasks.finished()

    assert (job["slug"], job["field"], job["reason"]) == (error_code, "orgs", "orgs: it is none")
    assert job.get("resumedBy") == (f"idp job resume {id}" if can else None)
    assert resumed.status == (200 if can else 400)


async def test_a_body_that_was_never_received_whole_fails_its_job(server, owner):
    job = job_lifecycle.new(server.service, "importer", JobOptions(), holder="gone")
    await job_lifecycle.begin(server.service, job)
    server.clock.advance(job_lifecycle.LEASE.total_seconds())

    await owner.post(f"{PATH}/{job.id}/_cancel", {})

    assert (await server.store.get(JOBS, job.id)).state == "cancelled"
