"""Imports whose process is killed again and again leave what an undisturbed one leaves."""

from __future__ import annotations

import pytest

from idp.config.settings import Config
from idp.records import JOBS
from idp.start import bootstrap
from tests.fire.background import importing
from tests.support.servers.mongod import fresh_database

ISSUER = "http://localhost:1"


@pytest.fixture(params=["sqlite", "mongodb"])
def store(request):
    """Makes the URL of a store; empty: a file in the data directory."""
    if request.param == "sqlite":
        yield ""
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield url


async def left_by(config, people, kills):
    """What an import leaves after so many kills, and how its job counts."""
    service = await importing.opened(config)
    try:
        id = await importing.begun(service, importing.package(people))
        for _ in range(kills):
            assert await importing.killed(service, config, id)
        code = await importing.finished(await importing.process(service, config, id))
        job = await service.store.get(JOBS, id)
        assert (code, job.state) == (0, "finished_with_errors"), job
        counts = (job.total, job.position, job.created, job.skipped, job.failed, job.warned)
        return await importing.without_chance(service.store), counts
    finally:
        await bootstrap.close_service(service)


async def compared(tmp_path, store, people, kills):
    calm = Config(data=str(tmp_path / "calm"), issuer=ISSUER)
    storm = Config(data=str(tmp_path / "storm"), issuer=ISSUER, store=store)
    assert await left_by(storm, people, kills) == await left_by(calm, people, 0)


@pytest.mark.promise("import: jobs")
async def test_an_import_that_was_killed_is_gone_on_with(tmp_path):
    await compared(tmp_path, "", people=2000, kills=2)


@pytest.mark.load
@pytest.mark.gen_test(timeout=3600)
async def test_twenty_kills_leave_what_an_undisturbed_import_leaves(tmp_path, store):
    await compared(tmp_path, store, people=12_000, kills=20)
