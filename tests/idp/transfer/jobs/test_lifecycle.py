"""Jobs: every row settled once, whoever works on it and wherever it is cut off."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from idp.records import DOMAINS, EVENTS, JOB_PROBLEMS, JOBS, ORGANIZATIONS
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs import runner as job_runner
from storage import Unavailable, Update
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything
from tests.support.transfer.packaged import Packaged, done, held, made, problems, stored

NAMES = [f"Org {n}" for n in range(8)]
ORGS = [{"orgId": f"o{n}", "org": {"name": name}} for n, name in enumerate(NAMES)]


def open_orgs(*_):
    return Packaged(*ORGS)


async def test_a_job_stores_its_rows_and_counts_them(server):
    job = await done(server.service, *ORGS)

    assert job == await stored(server.service, job)
    assert (job.state, job.total, job.position, job.created, job.failed) == (
        "succeeded",
        8,
        8,
        8,
        0,
    )
    assert (job.holder, job.held_until, job.is_to_stop) == (None, None, False)
    assert await made(server.service, job) == [("org", f"o{n}", [f"o{n}"]) for n in range(8)]
    await events_agree(server.store)


async def test_what_a_job_did_is_in_the_audit_log(server):
    job = await done(server.service, *ORGS, {"orgId": "bad", "org": {}})

    page = await server.store.find(EVENTS, {"record_id": job.id}, order="at")
    events = {event.sequence: event for event in page.records}
    assert (events[1].type, events[2].type) == ("import.started", "import.finished")
    told = dict(events[2].payload)
    assert (told["created"], told["failed"], told["state"]) == ("8", "1", "finished_with_errors")


async def test_a_row_that_cannot_be_read_is_reported_and_the_others_go_in(server):
    job = await done(
        server.service,
        ORGS[0],
        {"orgId": "bad", "org": {"name": 7, "colour": "red"}},
        {"orgId": "worse", "org": "x"},
        ORGS[1],
    )

    assert (job.state, job.created, job.failed) == ("finished_with_errors", 2, 2)
    told = [
        (one.row, one.path, one.error_code, one.field)
        for one in await problems(server.service, job)
    ]
    assert told == [
        (2, "orgs[1].org", "field.unknown", "colour"),
        (2, "orgs[1].org", "field.wrong_type", "name"),
        (3, "orgs[2].org", "field.wrong_type", ""),
    ]
    assert all(one.fix for one in await problems(server.service, job))


async def test_an_unknown_member_is_a_warning(server):
    job = await done(server.service, {"orgId": "a", "org": {"name": "A", "colour": "red"}})

    (told,) = await problems(server.service, job)
    assert (job.state, job.created, job.warned) == ("succeeded", 1, 1)
    assert (told.is_error, told.error_code, told.field) == (False, "field.unknown", "colour")


async def test_rows_of_a_kind_that_nobody_has_are_left_out_and_reported(server):
    job = await done(server.service, {**ORGS[0], "teapots": [{"id": "x"}]})

    (told,) = await problems(server.service, job)
    assert (job.state, job.created, job.skipped, job.warned) == ("succeeded", 1, 1, 1)
    assert (told.error_code, told.type, told.is_error) == ("import.unsupported", "teapots", False)


async def test_the_same_package_again_changes_nothing(server):
    await done(server.service, *ORGS)
    before = await everything(server.store)

    again = await done(server.service, *reversed(ORGS))

    assert (again.created, again.skipped, again.state) == (0, 8, "succeeded")
    assert await but_jobs(server) == without_jobs(before)


async def test_of_two_rows_of_one_id_the_first_is_stored_and_the_second_is_refused(server):
    twins = [ORGS[0], ORGS[1], {"orgId": "o0", "org": {"name": "Other"}}]
    for size in (1, 2, 3):
        orgs = [{**one, "orgId": f"{one['orgId']}-{size}"} for one in twins]
        for one in orgs:
            one["org"] = {"name": f"{one['org']['name']} {size}"}
        job = await done(server.service, *orgs, size=size)

        (told,) = await problems(server.service, job)
        assert (job.created, job.failed) == (2, 1)
        assert (told.row, told.error_code, told.record_id) == (3, "import.double", f"o0-{size}")
        assert (await server.store.get(ORGANIZATIONS, f"o0-{size}")).name == f"Org 0 {size}"


async def test_of_two_rows_that_want_one_name_the_first_gets_it(server):
    rows = [{"orgId": "a", "org": {"name": "Same"}}, {"orgId": "b", "org": {"name": "same"}}]
    job = await done(server.service, *rows)

    (told,) = await problems(server.service, job)
    assert (told.row, told.error_code, told.field) == (2, "organization.name_taken", "name")
    assert await server.store.get(ORGANIZATIONS, "b") is None


class Cut(BaseException):
    """Nobody but a test catches it."""


@pytest.mark.parametrize("batch", range(3))
async def test_a_job_that_is_cut_off_anywhere_is_gone_on_with(server, batch):
    """Rows are stored, those of the next batch as well, and that they are is not: what a kill
    between the two leaves."""
    service, hold = server.service, await held(server.service)
    kept, cuts = hold.store_outcomes, itertools.count()

    async def cut(processed):
        if next(cuts) == batch:
            raise Cut
        await kept(processed)

    hold.store_outcomes = cut
    with pytest.raises(Cut):
        await job_runner.work(service, hold, open_orgs, size=3)
    server.clock.advance(job_lifecycle.LEASE.total_seconds())
    again = await job_lifecycle.claim(service, await stored(service, hold.job), "there")
    left = await job_runner.work(service, again, open_orgs, size=3)

    assert (left.state, left.created, left.skipped, left.failed) == ("succeeded", 8, 0, 0)
    assert await made(service, left) == [("org", f"o{n}", [f"o{n}"]) for n in range(8)]
    await events_agree(server.store)


async def test_a_process_that_lost_a_job_stores_nothing_more_for_it(server):
    service, hold = server.service, await held(server.service)
    server.clock.advance(job_lifecycle.LEASE.total_seconds())
    other = await job_lifecycle.claim(service, await stored(service, hold.job), "there")

    left = await job_runner.work(service, hold, open_orgs)

    assert left.position == 0
    assert (await stored(service, left)).holder == "there"
    assert (await job_runner.work(service, other, open_orgs)).state == "succeeded"


async def test_of_many_one_gets_the_job(server):
    hold = await held(server.service)
    server.clock.advance(job_lifecycle.LEASE.total_seconds())
    job = await stored(server.service, hold.job)

    found = await asyncio.gather(
        *(job_lifecycle.claim(server.service, job, f"h{n}") for n in range(32))
    )

    assert hold.job.id == job.id
    assert len([one for one in found if one]) == 1


@pytest.mark.promise("import: jobs")
async def test_two_imports_of_the_same_rows_at_once_store_each_once(server):
    first, second = await asyncio.gather(
        done(server.service, *ORGS, size=2), done(server.service, *reversed(ORGS), size=3)
    )

    assert first.created + second.created == 8
    assert first.skipped + second.skipped == 8
    assert first.failed == second.failed == 0
    page = await server.store.find(DOMAINS, {"verified_key": "org-0.localhost"})
    assert len(page.records) == 1
    await events_agree(server.store)


async def test_a_job_that_is_to_stop_ends_before_its_next_batch(server):
    hold = await held(server.service)
    await server.store.commit(Update(JOBS, hold.job.id, set={"is_to_stop": True}))

    job = await done(server.service, *ORGS, hold=hold)

    assert (job.state, job.position) == ("cancelled", 0)
    assert await server.store.get(ORGANIZATIONS, "o0") is None


async def test_a_process_that_ends_leaves_the_job_to_others(server):
    turns = iter([False, True])
    hold = await held(server.service)

    await job_runner.work(server.service, hold, open_orgs, size=3, is_stopping=lambda: next(turns))

    left = await stored(server.service, hold.job)
    assert (left.state, left.position, left.holder) == ("running", 3, None)


async def test_a_process_that_is_to_end_does_not_wait_for_the_store(server):
    hold, turns = await held(server.service), iter([False, True])

    async def unreachable():
        raise Unavailable("gone")

    hold.should_stop = unreachable

    with pytest.raises(Unavailable):
        await job_runner.work(server.service, hold, open_orgs, is_stopping=lambda: next(turns))


async def test_a_job_waits_for_anybody_unless_it_reads_a_file(server):
    hold, _ = await held(server.service, source=None), await held(server.service)
    assert await job_lifecycle.next_job(server.service) is None

    server.clock.advance(job_lifecycle.LEASE.total_seconds())

    assert (await job_lifecycle.next_job(server.service)).id == hold.job.id


@pytest.mark.parametrize("file", ["changed", "gone"])
async def test_a_file_that_is_not_what_it_was_fails_its_job(server, tmp_path, file):
    path = tmp_path / "package.json"
    if file == "changed":
        path.write_text('{"orgs":[]}')
    hold = await held(server.service, source=str(path))
    await hold.store_values(digest="other")

    job = await job_runner.work(server.service, hold)

    assert (job.state, job.reason_slug) == ("failed", "import.package_lost")


async def test_a_package_that_is_not_there_fails_its_job(server):
    hold = await held(server.service, source=None)
    await server.store.commit(Update(JOBS, hold.job.id, set={"parts": 2}))
    hold.job.parts = 2

    job = await job_runner.work(server.service, hold, open_orgs)

    assert (job.state, job.reason_slug) == ("failed", "import.package_lost")


async def test_a_mistake_in_the_program_fails_the_job_and_not_its_process(server):
    def broken(*_):
        raise ZeroDivisionError

    job = await job_runner.work(server.service, await held(server.service), broken)

    assert (job.state, job.reason_slug) == ("failed", "internal")


async def test_thousands_of_problems_are_stored_in_portions(server, monkeypatch):
    monkeypatch.setattr(job_lifecycle, "MAX_WRITES", 3)
    rows = [{"orgId": f"b{n}", "org": {"a": 1, "b": 2}} for n in range(5)]

    job = await done(server.service, *rows, size=5)

    assert (job.failed, job.position) == (5, 5)
    assert len(await problems(server.service, job)) == 15
    keys = [one.key for one in await problems(server.service, job)]
    assert keys == sorted(keys)


def without_jobs(found):
    ours = {JOBS.name, JOB_PROBLEMS.name, EVENTS.name, "job_batches"}
    return {name: records for name, records in found.items() if name not in ours}


async def but_jobs(server):
    return without_jobs(await everything(server.store))
