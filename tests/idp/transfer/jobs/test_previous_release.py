"""Import processes that a parent process of the previous release starts, by the name it knows.

A running parent survives an update of the installed files; what it starts then is this release.
To be deleted together with `idp.transfer.process`.
"""

from __future__ import annotations

import msgspec
import pytest

from idp.config.settings import Config
from idp.records import JOBS
from idp.server import import_process
from idp.start import bootstrap
from tests.fire.background import importing


@pytest.fixture
def service(tmp_path, io_loop):
    config = Config(data=str(tmp_path), issuer="http://localhost:1")
    service = io_loop.run_sync(lambda: importing.opened(config))
    yield service
    io_loop.run_sync(lambda: bootstrap.close_service(service))


@pytest.mark.full
async def test_an_import_process_started_by_its_old_name_finishes_the_job(monkeypatch, service):
    old = (*import_process.COMMAND[:-1], "idp.transfer.process")
    monkeypatch.setattr(importing, "COMMAND", old)
    job_id = await importing.begun(service, importing.package(20))

    child = await importing.process(service, service.config, job_id)

    assert await importing.finished(child) == 0
    job = await service.store.get(JOBS, job_id)
    assert (job.state, job.created) == ("finished_with_errors", 22)


def test_the_assignment_of_an_import_process_keeps_the_fields_of_the_previous_release():
    fields = msgspec.structs.fields(import_process.ImportAssignment)

    assert {each.encode_name for each in fields} == {"config", "job_id", "holder"}
