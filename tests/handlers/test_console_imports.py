"""The console's pages of imports: how far they came, their problems, stopping and going on."""

from __future__ import annotations

import pytest

from tests.handlers.steps import Seen, text_of
from tests.idp.transfer.packaged import done
from tests.support.bulk import orgs
from tests.support.console import admin, manager
from tests.support.samples.imports import waiting

IMPORTS = "/ui/console/jobs/imports"


async def test_an_import_is_found_from_the_jobs_and_tells_how_far_it_came(server, visitor):
    job = await done(server.service, *orgs(3), {"orgId": "bad", "org": {}})
    jobs = await admin(server, visitor, "/ui/console/jobs")
    assert IMPORTS in Seen(jobs).links

    page = await visitor.open(f"{IMPORTS}/{job.id}")

    assert f"{IMPORTS}/{job.id}" in Seen(await visitor.open(IMPORTS)).links
    for told in (
        "done, with errors",
        "4 / 4",
        "4 orgs[3].org",
        "name: ",
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
    assert "stopped" in text_of(page)
    page = await visitor.submit(await visitor.open(f"{IMPORTS}/{id}/resume"))
    await server.service.errands.finished()

    page = await visitor.open(f"{IMPORTS}/{id}")
    assert "3 / 3" in text_of(page)


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
