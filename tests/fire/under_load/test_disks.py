"""The disk is full or stalls under two groups: what is stored is read, and no process is ended."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import closing

import httpx
import msgspec
import pytest

from tests.fire.groups import PROCESSES, send
from tests.fire.under_load.load import Load, longest, refused
from tests.fire.under_load.outlasting import outlast, reads_went_on, writes_again
from tests.program.telemetry.test_metrics import LISTEN, scrape
from tests.program.test_standard_streams import fill
from tests.support.programs.disks import MIB, StallingDisk, small_disk
from tests.support.programs.program import is_alive
from tests.support.transfer.bulk import orgs, package

pytestmark = pytest.mark.load

BEFORE_SECONDS = 2
MEASURED_SECONDS = 40  # a process measures every 15 s whether the store takes writes
FULL_SECONDS = 5
STALL_SECONDS = 20
LONGEST_SECONDS = 1  # for any answer where the store works
STORE_SECONDS = 8  # for any answer
ASKED = 8 * PROCESSES
LARGE_ROWS = 300  # more than fit into memory, so that they are written to a disk as they arrive
LIMITED = {"status": "ok", "store": "read-only"}


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", 64 * MIB) as made:
        yield made


@pytest.fixture
def stalling_disk(tmp_path):
    with closing(StallingDisk(tmp_path / "disk", 256 * MIB)) as made:
        yield made


async def until(what, seconds: float) -> None:
    """Return once `what`, which is called in another thread, is true."""
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(what):
            await asyncio.sleep(0.2)


def writable(groups) -> list[float]:
    """What the metrics of the groups say of the store."""
    return [scrape(group)["idp_store_writable",] for group in groups.groups]


def ready(groups) -> list[tuple[int, dict]]:
    """What processes of both groups answer at `/readyz`, each on a fresh connection."""
    ports = [port for port in groups.ports for _ in range(ASKED // 2)]
    answers = [httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=10) for port in ports]
    return [(answer.status_code, answer.json()) for answer in answers]


def transferred(groups) -> list[tuple[int, bool]]:
    """The status of an export and of two imports, a small one and a large one, and whether the
    answer says when to ask again. The rows of the packages are refused: nothing is stored."""
    sent = {"Authorization": f"Bearer {groups.token}", "Content-Type": "application/json"}
    small, large = (msgspec.json.encode(package(*orgs(n, "x" * 1000))) for n in (1, LARGE_ROWS))
    found = []
    for path, body in (("export", b"{}"), ("import", small), ("import", large)):
        address = f"{groups.issuer}/admin/v1/{path}"
        answer = httpx.post(address, content=body, headers=sent, timeout=60)
        found.append((answer.status_code, "Retry-After" in answer.headers))
    return found


async def test_while_the_disk_of_the_data_is_full_reads_go_on_and_writes_are_503(
    make_groups, disk, record_property
):
    groups = make_groups("--data", str(disk.path / "data"), **LISTEN)
    await groups.start()
    seen = []

    async def full():
        disk.fill()
        await until(lambda: writable(groups) == [0, 0], MEASURED_SECONDS)
        seen.append(await asyncio.to_thread(ready, groups))
        await asyncio.sleep(FULL_SECONDS)
        disk.empty()

    outlasted = await outlast(groups, full(), record_property)
    await until(lambda: writable(groups) == [1, 1], MEASURED_SECONDS)
    seen.append(await asyncio.to_thread(ready, groups))

    await groups.check()
    assert seen == [[(200, LIMITED)] * ASKED, [(200, {"status": "ok"})] * ASKED]
    assert ("POST", 503) in refused(outlasted.asked)
    assert reads_went_on(outlasted.asked)
    assert outlasted.recovered <= 1


async def test_while_the_disk_of_temporary_files_is_full_only_transfers_are_refused(
    new_groups, disk, record_property
):
    groups = new_groups(TMPDIR=disk.path, **LISTEN)
    await groups.start()
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        disk.fill()
        full_at = time.monotonic()
        transfers = await asyncio.to_thread(transferred, groups)
        killed = groups.groups[0].workers()[-1]
        send(signal.SIGKILL, killed)
        await until(lambda: not is_alive(killed), 5)
        await until(lambda: groups.is_whole(0), 20)
        scraped = await asyncio.to_thread(scrape, groups.groups[0])
        await asyncio.sleep(FULL_SECONDS)
        disk.empty()
        again = await asyncio.to_thread(transferred, groups)
    since = load.since(full_at)
    record_property("counts", f"longest wait {longest(since):.2f} of {len(since)}")

    await groups.check()
    assert transfers == [(503, True)] * 3
    assert [status for status, _ in again] == [200] * 3
    assert scraped["idp_worker_restarts_total", ("reason", "signal")] == 1
    assert longest(since) <= LONGEST_SECONDS
    assert {each for each in refused(since) if each[0] == "GET"} == set()


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "2>unread"])
async def test_where_log_lines_are_lost_no_request_is_refused(
    make_groups, tmp_path, redirection, record_property
):
    os.mkfifo(tmp_path / "unread")
    reader = os.open(tmp_path / "unread", os.O_RDONLY | os.O_NONBLOCK)
    groups = make_groups(redirection=redirection)
    await groups.start()
    fill(tmp_path / "unread")
    async with Load(groups).running() as load:
        await asyncio.sleep(FULL_SECONDS)
    record_property("counts", f"longest wait {longest(load.asked):.2f} of {len(load.asked)}")
    os.close(reader)

    await groups.check()
    assert not refused(load.asked)
    assert longest(load.asked) <= STORE_SECONDS


async def test_a_disk_that_stalls_for_20_seconds_costs_no_process_and_answers_go_on(
    make_groups, stalling_disk, record_property
):
    groups = make_groups("--data", str(stalling_disk.path / "data"))
    await groups.start()
    workers = [sorted(group.workers()) for group in groups.groups]
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        stalled_at = time.monotonic()
        with stalling_disk.stalled(STALL_SECONDS) as stall:
            await asyncio.to_thread(stall.wait)
        went_on_at = time.monotonic()
        recovered = await writes_again(load, went_on_at)
        await asyncio.sleep(2 * FULL_SECONDS)
    since, afterwards = load.since(stalled_at - 1), load.since(went_on_at + FULL_SECONDS)
    record_property(
        "counts",
        f"longest wait {longest(since):.2f}, afterwards {longest(afterwards):.2f};"
        f" refused {dict(refused(since))}; writes again after {recovered:.2f}",
    )

    await groups.check()
    assert [sorted(group.workers()) for group in groups.groups] == workers
    assert "worker replaced" not in groups.printed
    assert "no new connections" not in groups.printed
    assert all(one.says_when for one in since if one.status == 503)
    assert recovered <= 1
    assert longest(afterwards) <= LONGEST_SECONDS
    assert not refused(afterwards)
