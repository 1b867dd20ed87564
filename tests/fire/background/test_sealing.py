"""Sealing under kills and with clocks apart; a chain of which any one event is tampered with."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from contextlib import suppress
from datetime import timedelta

import pytest

from idp.audit import retention, sealing, verification
from idp.audit.event_streams import heads
from idp.records import EVENTS
from idp.start import bootstrap
from storage import Delete, Insert, Update
from tests.fire.background import auditing
from tests.support.servers.mongod import fresh_database
from tests.support.store.auditing import sealed_in, store_events

AHEAD = (-5, -1, 1, 5)


@pytest.fixture(params=["sqlite", "mongodb"])
def store(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/idp.sqlite3"
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield url


async def process(data, store, *arguments):
    program = [sys.executable, "-m", "tests.fire.background.auditing", str(data), store]
    return await asyncio.create_subprocess_exec(
        *program, *map(str, arguments), stdout=asyncio.subprocess.PIPE
    )


async def kill_each(data, store, kills: int, *arguments, longest=0.2) -> None:
    """Let processes work for a moment each, and kill each."""
    pauses = random.Random(7)
    for _ in range(kills):
        worker = await process(data, store, *arguments)
        await worker.stdout.readline()
        await asyncio.sleep(pauses.uniform(0.01, longest))
        worker.kill()
        await worker.wait()


async def kill_sealers(data, store, kills: int) -> None:
    await kill_each(data, store, kills, "seal")


async def kill_exporters(data, store, kills: int) -> None:
    await kill_each(data, store, kills, "export", longest=1.0)


async def exported(data, store, events: int) -> list[int]:
    """The positions of all lines, after an export that is not killed
    before all are there."""
    exporter = await process(data, store, "export")
    while events not in (found := positions_in(data)):
        assert exporter.returncode is None
        await asyncio.sleep(0.2)
    exporter.kill()
    await exporter.wait()
    return found


def positions_in(directory) -> list[int]:
    """Of all whole lines; a kill may have cut one off."""
    found = []
    for line in (directory / "events.jsonl").read_bytes().rpartition(b"\n")[0].splitlines():
        with suppress(ValueError):
            found.append(int(json.loads(line)["position"]))
    return found


def covers(found: list[int], events: int) -> bool:
    """Whether each position is there, for the first time after the one before."""
    return list(dict.fromkeys(found)) == list(range(1, events + 1))


async def storm(data, store, events: int, kills: int) -> None:
    service = await auditing.opened(str(data), store)
    try:
        await bootstrap.make_ready(service)
        writers = [await process(data, store, "write", events // 4, ahead) for ahead in AHEAD]
        await asyncio.gather(kill_sealers(data, store, kills), kill_exporters(data, store, kills))
        assert [await each.wait() for each in writers] == [0] * 4
        while await sealing.has_unsealed(service):
            await sealing.seal(service)
        access = await sealed_in(service, "access")

        assert [each.position for each in access] == list(range(1, events + 1))
        assert [each.fault for each in await verification.verify(service)] == [None] * 3
        assert covers(await exported(data, store, events), events)
    finally:
        await bootstrap.close_service(service)


@pytest.mark.full
@pytest.mark.promise("audit: positions")
async def test_a_killed_sealer_leaves_no_gap(tmp_path):
    store = f"sqlite:///{tmp_path}/idp.sqlite3"
    service = await auditing.opened(str(tmp_path), store)
    try:
        await auditing.write(service, 1000, -5)
        await kill_sealers(tmp_path, store, 1)
        await asyncio.gather(sealing.seal(service), auditing.write(service, 100, 5))
        await sealing.seal(service)
        access = await sealed_in(service, "access")

        assert [each.position for each in access] == list(range(1, 1101))
        assert [each.fault for each in await verification.verify(service)] == [None] * 3
    finally:
        await bootstrap.close_service(service)


@pytest.mark.full
@pytest.mark.promise("audit: export")
async def test_a_killed_export_leaves_out_no_event(tmp_path):
    store = f"sqlite:///{tmp_path}/idp.sqlite3"
    service = await auditing.opened(str(tmp_path), store)
    try:
        await bootstrap.make_ready(service)
        await store_events(service, 3000, type="session.opened", payload=[("a", "b")])
        await sealing.seal(service)
        await kill_exporters(tmp_path, store, 2)

        assert covers(await exported(tmp_path, store, 3000), 3000)
    finally:
        await bootstrap.close_service(service)


@pytest.mark.load
@pytest.mark.promise("audit: export")
@pytest.mark.gen_test(timeout=3600)
async def test_100_000_events_are_sealed_and_exported_by_processes_that_are_killed(
    tmp_path, store
):
    await storm(tmp_path, store, events=100_000, kills=50)


@pytest.mark.load
@pytest.mark.promise("audit: retention")
@pytest.mark.gen_test(timeout=600)
async def test_retention_keeps_up_with_events_and_takes_none_that_is_not_sealed(tmp_path, store):
    """Those that are written meanwhile are as old, so that only the seal protects them."""
    service, ago = await auditing.opened(str(tmp_path), store), timedelta(days=500)
    try:
        await bootstrap.make_ready(service)
        await sealing.seal(service)  # of a new installation: without the 30 days
        await store_events(service, 20_000, type="session.opened", earlier=ago)
        await sealing.seal(service)
        behind = [-ago.total_seconds()] * 2
        busy = [await process(tmp_path, store, "write", 10_000, each) for each in behind]
        sealer = await process(tmp_path, store, "seal")
        began_at = time.monotonic()
        while (await heads(service))["access"].floor < 20_000:
            await retention.remove_old(service)
        rate = 20_000 / (time.monotonic() - began_at) * retention.MAX_RUN_SECONDS / 60
        assert [await each.wait() for each in busy] == [0] * 2
        sealer.kill()
        await sealer.wait()
        await retention.remove_old(service)
        unsealed = (await sealing.unsealed(service, up_to=40_000)).number
        access, left = (await heads(service))["access"], await sealed_in(service, "access")
        print(f"{rate:.0f} events a second")

        assert rate > 500  # 1,500 to 4,000 where nothing else runs
        # Not one was removed before it had a position.
        assert access.position + unsealed >= 40_000
        assert [each.position for each in left] == list(
            range(access.floor + 1, access.position + 1)
        )
        assert [each.fault for each in await verification.verify(service)] == [None] * 3
    finally:
        await bootstrap.close_service(service)


async def tamper(service, way: str, event, other) -> list:
    """Change a sealed event; the writes that put everything back."""
    place = {"position": event.position, "chain": event.chain}
    if way == "changed":
        writes = [Update(EVENTS, event.id, set={"record_id": "other"})]
        back = [Update(EVENTS, event.id, set={"record_id": event.record_id})]
    elif way == "removed":
        writes, back = [Delete(EVENTS, event.id)], [Insert(EVENTS, event)]
    elif way == "added":
        fields = {name: getattr(event, name) for name in event.__struct_fields__}
        added = type(event)(**fields | {"id": f"{event.id}-2"})
        writes, back = [Insert(EVENTS, added)], [Delete(EVENTS, added.id)]
    else:
        of_other = {"position": other.position, "chain": other.chain}
        writes = [
            Update(EVENTS, event.id, set=of_other),
            Update(EVENTS, other.id, set=place),
        ]
        back = [
            Update(EVENTS, event.id, set=place),
            Update(EVENTS, other.id, set=of_other),
        ]
    await service.store.commit(*writes)
    return back


@pytest.mark.load
@pytest.mark.gen_test(timeout=3600)
async def test_each_of_200_random_changes_of_10_000_events_is_found(tmp_path):
    service = await auditing.opened(str(tmp_path), f"sqlite:///{tmp_path}/idp.sqlite3")
    try:
        await store_events(service, 10_000, type="session.opened", payload=[("a", "b")])
        await sealing.seal(service)
        access, choice = await sealed_in(service, "access"), random.Random(11)
        for n in range(200):
            way = ("changed", "removed", "added", "swapped")[n % 4]
            event, other = choice.sample(access, 2)
            back = await tamper(service, way, event, other)
            (fault,) = [one for one in await verification.verify(service) if one.fault]
            first = min(event.position, other.position) if way == "swapped" else event.position
            assert first <= fault.fault_position <= first + (way == "added"), (way, fault)
            await service.store.commit(*back)
        assert not [one for one in await verification.verify(service) if one.fault]
    finally:
        await bootstrap.close_service(service)
