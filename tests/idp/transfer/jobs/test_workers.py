"""Other processes that help with an import: real ones, over a store of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from idp.config.settings import Config
from idp.records import USERS
from idp.start import bootstrap
from idp.transfer.jobs import pipeline as job_pipeline
from idp.transfer.jobs import worker_messages, workers
from idp.transfer.jobs.worker_messages import WorkerReply
from idp.transfer.kinds.kind import ImportContext
from storage import Unavailable
from tests.fire.background import importing
from tests.fire.background.importing import children
from tests.support import patience
from tests.support.patience import until
from tests.support.transfer.packaged import Packaged, held

LARGE = workers.MIN_PACKAGE_BYTES


def person(n, name=None):
    profile = {"firstName": "U", "lastName": str(n)}
    user = {"userName": name or f"user-{n}", "profile": profile}
    return {"userId": f"u{n}", "user": user | {"email": {"email": f"u{n}@example.com"}}}


def batches(*people, size=3):
    """The organization, which has to be there first; and its people."""
    org = {"orgId": "o", "org": {"name": "O"}, "humanUsers": list(people)}
    return list(Packaged(org).batches(0, size))


@pytest.fixture
def service(tmp_path, io_loop):
    config = Config(data=str(tmp_path), issuer="http://localhost:1")
    service = io_loop.run_sync(lambda: importing.opened(config))
    yield service
    io_loop.run_sync(lambda: bootstrap.close_service(service))


@asynccontextmanager
async def joined(service, **options):
    """The import, and its desks once another process has joined."""
    context = ImportContext(service, (await held(service, **options)).job)
    async with workers.started_workers(context, 1) as places:
        places.insert(0, job_pipeline.LocalBatchWorker(context))
        async with asyncio.timeout(patience.SECONDS):
            await until(lambda: len(places) >= 2)
        yield context, places


def helper():
    """The process that helps this one; None when there is none."""
    helping = (pid for pid in children(os.getpid()) if b"idp.server.import_worker" in command(pid))
    return next(helping, None)


def command(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.full
@pytest.mark.parametrize(
    "module",
    [workers.COMMAND[-1], pytest.param("idp.transfer.worker", id="previous release's name")],
)
async def test_a_worker_stores_what_it_has_planned_and_reports_it(service, monkeypatch, module):
    monkeypatch.setattr(workers, "COMMAND", (*workers.COMMAND[:-1], module))
    first, people = batches(person(1), {**person(2), "userId": ""}, person(3, "user-1"))
    async with joined(service) as (_, (own, far)):
        await own.plan(first)
        await own.store()
        await far.plan(people)
        settled = await (await far.store())

    assert [(one.action, one.row.number) for one in settled] == [
        ("create", 2),
        ("fail", 3),
        ("fail", 4),
    ]
    assert [one.problems[0].error_code for one in settled[1:]] == [
        "field.empty",
        "user.login_name_taken",
    ]
    assert (await service.store.get(USERS, "u1")).user_name == "user-1"


@pytest.mark.full
async def test_a_terminals_interruption_reaches_no_worker_however_young_it_is(service):
    async with joined(service):
        assert os.getpgid(helper()) != os.getpgrp()


@pytest.mark.full
async def test_of_two_rows_that_want_the_same_the_first_gets_it_wherever_it_is_planned(service):
    names = [f"user-{n % 4}" for n in range(24)]
    rows = iter(batches(*(person(n, name) for n, name in enumerate(names)), size=2))

    async def following():
        return next(rows, None)

    async with joined(service) as (_, places):
        done = [
            one
            async for each in job_pipeline.processed_batches(places, following)
            for one in await each
        ]

    assert [one.action for one in done] == ["create"] * 5 + ["fail"] * 20


@pytest.mark.full
async def test_a_worker_that_is_gone_is_missed_by_the_batch_that_it_was_at(service):
    first, people = batches(person(1))
    async with joined(service) as (_, places):
        own, far = places
        await own.plan(first)
        await own.store()
        os.kill(helper(), signal.SIGSTOP)
        judging = asyncio.ensure_future(far.plan(people))
        await asyncio.sleep(0.05)
        os.kill(helper(), signal.SIGKILL)
        with pytest.raises(Unavailable):
            await judging
        assert places == [own]
        with pytest.raises(Unavailable):
            await far.store()


@pytest.fixture
def end(io_loop, monkeypatch):
    """The other end of a helper's connection, which the test holds: a worker might be quicker."""
    ours, theirs = socket.socketpair()

    @asynccontextmanager
    async def process():
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        try:
            yield reader, writer
        finally:
            writer.close()
            await writer.wait_closed()

    monkeypatch.setattr(workers, "_process", process)
    _, writer = io_loop.run_sync(lambda: asyncio.open_unix_connection(sock=theirs))
    io_loop.run_sync(lambda: worker_messages.send(writer, WorkerReply()))  # it is ready
    yield writer
    writer.close()
    io_loop.run_sync(writer.wait_closed)


async def stored(far, end):
    """What became of a batch that the other end has stored, and has yet to tell of."""
    storing = asyncio.ensure_future(far.store())
    await worker_messages.send(end, WorkerReply(is_stored=True))
    return await storing


@pytest.mark.full
async def test_what_a_worker_stored_without_reporting_is_missed_by_the_waiting_process(
    service, end
):
    async with joined(service) as (_, (_, far)):
        telling = await stored(far, end)
        end.close()
        with pytest.raises(Unavailable):
            await telling


@pytest.mark.full
async def test_a_failure_between_storing_and_reporting_is_no_failure_of_the_next_batch(
    service, end
):
    async with joined(service) as (_, (_, far)):
        telling = await stored(far, end)
        judging = asyncio.ensure_future(far.plan([]))
        await asyncio.sleep(0)
        await worker_messages.send(end, WorkerReply(failure="the store went"))
        with pytest.raises(Unavailable):
            await telling
        assert not judging.done()
        await worker_messages.send(end, WorkerReply(failure="the store went again"))
        with pytest.raises(Unavailable, match="again"):
            await judging


@pytest.mark.full
async def test_a_mistake_of_a_worker_is_no_refusal_of_the_store(service):
    async with joined(service) as (_, (_, far)):
        with pytest.raises(RuntimeError):
            await far.store()  # nothing was judged


@pytest.mark.full
async def test_a_worker_ends_with_who_it_helps(service):
    async with joined(service):
        pid = helper()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.full
@pytest.mark.parametrize(
    ("octets", "count", "is_dry_run", "wanted"),
    [(LARGE, 3, False, 3), (LARGE - 1, 3, False, 0), (LARGE, 0, False, 0), (LARGE, 3, True, 0)],
)
async def test_others_help_where_it_is_worth_it(service, octets, count, is_dry_run, wanted):
    job = (await held(service, is_dry_run=is_dry_run)).job

    assert workers.helper_count(service, job, octets, count) == wanted


@pytest.mark.full
async def test_nobody_helps_with_what_is_only_in_memory(service):
    alone = replace(service, config=Config(store="memory://", issuer="http://localhost:1"))

    assert workers.helper_count(alone, (await held(service)).job, LARGE, 3) == 0
