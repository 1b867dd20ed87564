"""Faults and bounds of the API, over HTTP, on SQLite and on MongoDB."""

from __future__ import annotations

import asyncio
import base64
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import pytest

from idp.background import read_only_store
from idp.foundation import logs
from idp.records import EVENTS, JOBS
from idp.server import import_process
from idp.server.import_process import Importer
from idp.transfer.calls import export_document
from storage import Unavailable, Unknown, confirmed_commit
from storage.mongo import store as mongo_store
from storage.sqlite import SqliteStore
from tests.fire.background import importing
from tests.support import patience
from tests.support.management.callers import refused
from tests.support.patience import loop_turns
from tests.support.sign_in.factors import code, give_app
from tests.support.sign_in.people import create
from tests.support.store.both_stores import settings  # noqa: F401 - a fixture
from tests.support.transfer.bulk import orgs, package

PROJECT = "/management/v1/projects"
PHPASS_19 = "$P$H12345678Yffhn1wkB.NF0nc8V2DIT0"


@pytest.mark.full
@pytest.mark.promise("faults: phpass")
async def test_a_phpass_hash_of_two_to_the_nineteen_rounds_signs_in(owner, new_visitor, demo):
    await create(owner, username="mini", hashedPassword={"hash": PHPASS_19})

    tokens = await demo.tokens(new_visitor(), "mini", "old but right")

    assert tokens["token_type"] == "Bearer"


@pytest.mark.promise("faults: readyz")
async def test_readyz_reports_a_failed_write_until_one_succeeds(server, owner, visitor, failing):
    ready = [await visitor.get("/readyz")]
    failing(True)
    visitor.may_fail = True
    refused(await owner.post(PROJECT, {"name": "Shop"}), 503, 14)
    ready.append(await visitor.get("/readyz"))
    failing(False)
    assert (await owner.post(PROJECT, {"name": ""})).status == 400  # writes nothing
    ready.append(await visitor.get("/readyz"))
    assert (await owner.post(PROJECT, {"name": "Shop"})).status == 200
    ready.append(await visitor.get("/readyz"))

    limited = {"status": "ok", "store": "read-only"}
    assert [page.status for page in ready] == [200] * 4
    assert [page.json() for page in ready] == [
        {"status": "ok"},
        limited,
        limited,
        {"status": "ok"},
    ]


@pytest.mark.promise("faults: readyz")
async def test_readyz_is_503_when_the_store_can_not_be_read(server, visitor, monkeypatch):
    async def gone():
        raise Unavailable("gone")

    monkeypatch.setattr(server.store, "ping", gone)
    visitor.may_fail = True

    assert (await visitor.get("/readyz")).status == 503


@pytest.mark.promise("faults: readyz")
async def test_a_store_that_can_not_be_written_to_is_warned_of_once_a_minute(
    server, owner, visitor, failing, monkeypatch, capfd
):
    monkeypatch.setattr(read_only_store, "POLL_SECONDS", 0)
    logs.configure("warning", "json")
    warning = asyncio.create_task(read_only_store.warn(server.store))
    failing(True)
    visitor.may_fail = True
    for _ in range(3):
        await owner.post(PROJECT, {"name": "Shop"})
        await loop_turns(50)
    warning.cancel()

    assert capfd.readouterr().err.count("can't be written to") == 1
    assert read_only_store.WARNS_EVERY_SECONDS == 60


@pytest.fixture
def failing(server, monkeypatch):
    """Has every unit fail below the contract, or no longer."""
    is_sqlite = isinstance(server.store, SqliteStore)
    kind, name = (SqliteStore, "_write") if is_sqlite else (mongo_store._OpenStore, "outcome")
    genuine = getattr(kind, name)

    async def written(store, units):
        return [Unavailable("the disk is full")] * len(units)

    async def outcome(opened, unit):
        return Unavailable("no primary")

    def switch(fails):
        failed = written if is_sqlite else outcome
        monkeypatch.setattr(kind, name, failed if fails else genuine)

    return switch


@pytest.mark.full
@pytest.mark.promise("faults: export timeout")
@pytest.mark.parametrize("swallows", [True, False])
async def test_an_export_ends_at_its_timeout(server, owner, monkeypatch, swallows):
    page = await endless_export(owner, monkeypatch, swallows)

    assert refused(page, 504, 4) == {"": "deadline.exceeded"}
    found = [one.type async for one in server.store.scan(EVENTS)]
    assert not [type for type in found if "export" in type]


@pytest.mark.load
@pytest.mark.promise("faults: export timeout")
@pytest.mark.parametrize("swallows", [True, False])
async def test_an_export_ends_within_a_second_of_its_timeout(owner, monkeypatch, swallows):
    begun = time.monotonic()
    await endless_export(owner, monkeypatch, swallows)

    assert 1 <= time.monotonic() - begun < 2


async def endless_export(owner, monkeypatch, swallows):
    """The answer to an export without end, whose work may swallow its cancellation."""
    genuine = export_document._organizations

    async def endless(view, wanted, chosen):
        (first, *_) = [each async for each in genuine(view, wanted, chosen)]
        while True:
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                if not swallows:
                    raise
            yield first

    monkeypatch.setattr(export_document, "_organizations", endless)
    monkeypatch.setattr(export_document, "KINDS", ())
    owner.visitor.may_fail = True
    return await owner.post("/admin/v1/export", {"timeout": "1s"})


@pytest.mark.promise("faults: export timeout")
async def test_an_export_whose_last_wait_swallowed_the_end_is_not_answered(
    server, owner, monkeypatch
):
    async def slow(*_):
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    monkeypatch.setattr(export_document, "_record", slow)
    owner.visitor.may_fail = True
    page = await owner.post("/admin/v1/export", {"timeout": "1s"})

    assert refused(page, 504, 4) == {"": "deadline.exceeded"}


@pytest.mark.promise("faults: short TOTP secrets")
async def test_an_app_with_a_secret_of_80_bits_signs_in(server, visitor, demo):
    secret = base64.b32encode(b"0123456789").decode()
    await give_app(server, secret=secret)
    page = await visitor.sign_in(demo.authorize_url(), *server.user)
    page = await visitor.submit(page, code=code(server.clock, secret))

    assert "code" in page.answer


@pytest.mark.promise("faults: unknown outcome")
async def test_a_write_with_unknown_outcome_is_answered_by_503(server, owner, monkeypatch):
    async def losing(store, *writes):
        raise Unknown(SimpleNamespace(id="a unit"))

    async def silent(store, unit):
        raise Unavailable("gone")

    assert confirmed_commit.CONFIRMED_WITHIN_SECONDS == 8
    monkeypatch.setattr(confirmed_commit, "CONFIRMED_WITHIN_SECONDS", 0.1)
    monkeypatch.setattr(type(server.store), "commit", losing)
    monkeypatch.setattr(type(server.store), "applied", silent)
    owner.visitor.may_fail = True
    page = await owner.post(PROJECT, {"name": "Shop"})

    assert refused(page, 503, 14) == {"": "unavailable"}
    assert page.headers["Retry-After"]


@pytest.mark.promise("faults: helper processes")
@pytest.mark.full
async def test_a_job_whose_process_does_not_start_fails_with_its_reason(
    server, owner, monkeypatch, capfd
):
    logs.configure("info", "json")
    monkeypatch.setattr(
        import_process, "COMMAND", (sys.executable, "-c", "import sys; sys.exit(3)")
    )
    id = await importing.begun(server.service, package(*orgs(1)))
    async with Importer(server.service).running(), asyncio.timeout(patience.SECONDS):
        while (await server.store.get(JOBS, id)).state != "failed":
            await asyncio.sleep(0.01)
    job = (await owner.get(f"/admin/v1/jobs/{id}")).json()

    assert job["slug"] == "import.not_started"
    assert "exit code 3" in job["reason"]
    assert job["resumedBy"] == f"idp job resume {id}"
    assert '"exit_code":3' in capfd.readouterr().err


@pytest.mark.promise("faults: helper processes")
@pytest.mark.full
async def test_a_job_whose_process_was_killed_before_it_began_waits_for_another(
    server, owner, monkeypatch
):
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    monkeypatch.setattr(import_process, "COMMAND", (sys.executable, "-c", kill))
    slept = asyncio.Event()
    monkeypatch.setattr(Importer, "_run_child", _noting(Importer._run_child, slept))
    monkeypatch.setattr(import_process, "_RETRY_SECONDS", 0)
    id = await importing.begun(server.service, package(*orgs(1)))
    async with Importer(server.service).running(), asyncio.timeout(patience.SECONDS):
        await slept.wait()

    assert (await owner.get(f"/admin/v1/jobs/{id}")).json()["state"] == "JOB_STATE_QUEUED"


def _noting(genuine, done):
    async def run(importer, assignment):
        await genuine(importer, assignment)
        done.set()

    return run
