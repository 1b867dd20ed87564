"""The console's pages of imports: how far they came, their problems, stopping and going on."""

from __future__ import annotations

import pytest

from idp.records import JOBS
from idp.transfer.jobs import lifecycle as job_lifecycle
from tests.support.management.console import admin, manager
from tests.support.samples.imports import waiting
from tests.support.sign_in.steps import Seen, text_of
from tests.support.transfer.bulk import orgs
from tests.support.transfer.packaged import done, held

IMPORTS = "/ui/console/jobs/imports"


async def test_an_import_is_found_from_the_jobs_and_reports_its_progress(server, visitor):
    job = await done(server.service, *orgs(3), {"orgId": "bad", "org": {}})
    jobs = await admin(server, visitor, "/ui/console/jobs")
    assert IMPORTS in Seen(jobs).links

    page = await visitor.open(f"{IMPORTS}/{job.id}")

    assert f"{IMPORTS}/{job.id}" in Seen(await visitor.open(IMPORTS)).links
    for told in (
        "completed with errors",
        "4 / 4",
        "4 orgs[3].org",
        "name: is required",
        f"idp job show {job.id}",
    ):
        assert told in text_of(page)
    assert not [url for url in Seen(page).links if url.endswith(("/cancel", "/resume"))]


async def test_problems_are_turned_page_by_page(server, visitor):
    bad = [{"orgId": f"b{n}", "org": {}} for n in range(30)]
    job = await done(server.service, *bad)
    page = await admin(server, visitor, f"{IMPORTS}/{job.id}")
    assert "orgs[24].org" in text_of(page)
    assert "orgs[25].org" not in text_of(page)

    (following,) = [url for url in Seen(page).links if "problems=" in url]
    page = await visitor.open(following)

    assert "orgs[29].org" in text_of(page)
    assert f"{IMPORTS}/{job.id}" in Seen(page).links


async def test_an_import_is_stopped_and_gone_on_with(server, visitor):
    id = await waiting(server, *orgs(3))
    page = await admin(server, visitor, f"{IMPORTS}/{id}")
    assert f"{IMPORTS}/{id}" in Seen(page).links  # to look again

    page = await visitor.submit(await visitor.open(f"{IMPORTS}/{id}/cancel"))
    assert "canceled" in text_of(page)
    page = await visitor.submit(await visitor.open(f"{IMPORTS}/{id}/resume"))
    await server.service.background_tasks.finished()

    page = await visitor.open(f"{IMPORTS}/{id}")
    assert "3 / 3" in text_of(page)


async def test_an_import_is_listed_with_who_began_it_how_and_when_it_ended(server, visitor):
    job = await done(server.service, *orgs(1), is_dry_run=True, updates=True, mends=True)
    page = await admin(server, visitor, f"{IMPORTS}/{job.id}")

    told = text_of(page)

    for label in (
        "dry run",
        "updates existing records",
        "fixes small errors",
        "importer",
        "Ended",
    ):
        assert label in told
    assert "dry run" in text_of(await visitor.open(IMPORTS))
    assert "editorUserId=importer" in page.text
    assert "Why it failed" not in told


@pytest.mark.parametrize(
    ("error_code", "told", "can"),
    [
        ("internal", "The service had an internal error.", True),
        ("import.not_started", "The worker process did not start", True),
        ("import.package_lost", "The package has changed or no longer exists.", True),
        ("field.required", "it is none", False),
        ("json.syntax", "it is none", False),
    ],
)
async def test_why_an_import_failed_is_reported_and_whether_it_can_be_resumed(
    server, visitor, error_code, told, can
):
    id = await waiting(server, *orgs(3))
    hold = await job_lifecycle.claim(server.service, await server.store.get(JOBS, id), "here")
    await hold.end("failed", error_code, "dataOrgs.orgs: it is none", "dataOrgs.orgs")

    page = await admin(server, visitor, f"{IMPORTS}/{id}")

    assert told in text_of(page)
    assert '<code dir="ltr">dataOrgs.orgs</code>' in page.text
    assert ("Enter a value." in text_of(page)) == (error_code == "field.required")
    assert (f"{IMPORTS}/{id}/resume" in Seen(page).links) == can
    assert (f"idp job resume {id}" in text_of(page)) == can


@pytest.mark.parametrize(
    ("total", "done", "rate", "left"),
    [(9000, 1000, "500", "0:00:16"), (90, 5, "2.5", "0:00:34"), (60000, 8872, "4436", "0:00:12")],
)
async def test_an_import_under_way_shows_a_bar_its_rate_and_the_time_left(
    server, visitor, total, done, rate, left
):
    hold = await held(server.service)
    await hold.store_values(state="running", total=total, worked_since=server.clock.now())
    server.clock.advance(2)
    await hold.store_values(position=done)

    page = await admin(server, visitor, f"{IMPORTS}/{hold.job.id}")

    assert f'<progress value="{done}" max="{total}" aria-label="Rows processed">' in page.text
    for told in ("running", f"{done} / {total}", f"Rows per second{rate} ", f"Time left{left} "):
        assert told in text_of(page)
    assert f"{IMPORTS}/{hold.job.id}/cancel" in Seen(page).links


async def test_the_page_refreshes_for_who_asks_for_that_until_the_import_has_ended(
    server, visitor
):
    hold = await held(server.service)
    await hold.store_values(state="running", total=9, worked_since=server.clock.now())
    here = f"{IMPORTS}/{hold.job.id}"
    page = await admin(server, visitor, here)
    assert "Refresh" not in page.headers

    (following,) = [url for url in Seen(page).links if url.endswith("follow=on")]
    page = await visitor.open(following)

    assert page.headers["Refresh"] == "5"
    assert "refreshes every 5 seconds" in text_of(page)
    assert here in Seen(page).links
    await hold.end("succeeded")
    assert "Refresh" not in (await visitor.open(following)).headers


async def test_one_that_is_to_stop_says_so_until_it_has(server, visitor):
    hold = await held(server.service)
    await hold.store_values(state="running", total=9, worked_since=server.clock.now())
    here = f"{IMPORTS}/{hold.job.id}"
    await admin(server, visitor, here)

    page = await visitor.submit(await visitor.open(f"{here}/cancel"))

    assert "It stops as soon as the current rows are stored." in text_of(page)
    assert f"{here}/cancel" not in Seen(page).links
    await hold.end("cancelled")
    assert "It stops" not in text_of(await visitor.open(here))


async def test_one_of_a_local_file_is_gone_on_with_where_that_is(server, visitor):
    hold = await held(server.service, source="/tmp/all of it.json")
    server.clock.advance(job_lifecycle.LEASE.total_seconds())
    here, on = f"{IMPORTS}/{hold.job.id}", "idp import '/tmp/all of it.json' --resume"
    page = await admin(server, visitor, here)

    for told in ("interrupted", "the program reading it has ended", on):
        assert told in text_of(page)
    page = await visitor.submit(await visitor.open(f"{here}/cancel"))

    assert "canceled" in text_of(page)
    assert on in text_of(page)
    assert f"{here}/resume" not in Seen(page).links


async def test_what_has_ended_is_not_stopped(server, visitor):
    job = await done(server.service, *orgs(1))
    page = await admin(server, visitor, f"{IMPORTS}/{job.id}/cancel")

    assert (await visitor.submit(page)).status == 400


@pytest.mark.parametrize("path", ["nobody", "nobody/cancel"])
async def test_an_import_that_is_not_there_changes_nothing(server, visitor, path):
    page = await admin(server, visitor, f"{IMPORTS}/{path}")
    if path.endswith("cancel"):
        page = await visitor.submit(page)

    assert page.status == 404


async def test_who_manages_one_organization_sees_no_imports(server, visitor):
    page = await manager(server, visitor, "ORG_OWNER", path=IMPORTS)

    assert page.status == 403
