"""Faults and bounds of the API, over HTTP, on SQLite and on MongoDB."""

from __future__ import annotations

import asyncio
import base64
import sys
from types import SimpleNamespace

import pytest

from idp import logs
from idp.records import JOBS
from idp.transfer import process
from idp.transfer.process import Importer
from storage import Unavailable, Unknown, settling
from tests.fire import importing
from tests.handlers.people import create
from tests.support.bulk import orgs, package
from tests.support.callers import instance_owner, refused
from tests.support.factors import code, give_app
from tests.support.mongod import fresh_database

PROJECT = "/management/v1/projects"
PHPASS_19 = "$P$H12345678Yffhn1wkB.NF0nc8V2DIT0"


@pytest.fixture(params=["sqlite", "mongodb"])
def settings(request, tmp_path):
    if request.param == "sqlite":
        yield {"store": f"sqlite:///{tmp_path}/db.sqlite3"}
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield {"store": url}


@pytest.fixture
def owner(io_loop, server, visitor):
    return io_loop.run_sync(lambda: instance_owner(server, visitor))


async def test_a_phpass_hash_of_two_to_the_nineteen_rounds_signs_in(owner, new_visitor, demo):
    await create(owner, username="mini", hashedPassword={"hash": PHPASS_19})

    tokens = await demo.tokens(new_visitor(), "mini", "old but right")

    assert tokens["token_type"] == "Bearer"


async def test_an_app_with_a_secret_of_80_bits_signs_in(server, visitor, demo):
    secret = base64.b32encode(b"0123456789").decode()
    await give_app(server, secret=secret)
    page = await visitor.sign_in(demo.authorize_url(), *server.user)
    page = await visitor.submit(page, code=code(server.clock, secret))

    assert "code" in page.answer


async def test_a_write_whose_outcome_nobody_can_tell_is_answered_by_503(
    server, owner, monkeypatch
):
    async def losing(store, *writes):
        raise Unknown(SimpleNamespace(id="a unit"))

    async def silent(store, unit):
        raise Unavailable("gone")

    assert settling.SETTLES_WITHIN_SECONDS == 8
    monkeypatch.setattr(settling, "SETTLES_WITHIN_SECONDS", 0.1)
    monkeypatch.setattr(type(server.store), "commit", losing)
    monkeypatch.setattr(type(server.store), "applied", silent)
    owner.visitor.may_fail = True
    page = await owner.post(PROJECT, {"name": "Shop"})

    assert refused(page, 503, 14) == {"": "unavailable"}
    assert page.headers["Retry-After"]


async def test_a_job_whose_process_does_not_start_fails_with_its_reason(
    server, owner, monkeypatch, capfd
):
    logs.configure("info", "json")
    monkeypatch.setattr(process, "COMMAND", (sys.executable, "-c", "import sys; sys.exit(3)"))
    id = await importing.begun(server.service, package(*orgs(1)))
    async with Importer(server.service).running(), asyncio.timeout(20):
        while (await server.store.get(JOBS, id)).state != "failed":
            await asyncio.sleep(0.01)
    job = (await owner.get(f"/admin/v1/jobs/{id}")).json()

    assert job["slug"] == "import.not_started"
    assert "exit code 3" in job["reason"]
    assert job["resumedBy"] == f"idp job resume {id}"
    assert '"exit_code":3' in capfd.readouterr().err


async def test_a_job_whose_process_was_killed_before_it_began_waits_for_another(
    server, owner, monkeypatch
):
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    monkeypatch.setattr(process, "COMMAND", (sys.executable, "-c", kill))
    slept = asyncio.Event()
    monkeypatch.setattr(Importer, "_run_child", _noting(Importer._run_child, slept))
    monkeypatch.setattr(process, "_RETRY_SECONDS", 0)
    id = await importing.begun(server.service, package(*orgs(1)))
    async with Importer(server.service).running(), asyncio.timeout(20):
        await slept.wait()

    assert (await owner.get(f"/admin/v1/jobs/{id}")).json()["state"] == "JOB_STATE_QUEUED"


def _noting(genuine, done):
    async def run(importer, errand):
        await genuine(importer, errand)
        done.set()

    return run
