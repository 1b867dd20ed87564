"""The machine's clock is set ahead and back while two groups serve: they go on without a gap."""

from __future__ import annotations

import asyncio
import time

import pytest

from idp.records import EVENTS
from tests.fire.under_load.load import Load, longest, refused
from tests.support.programs import program
from tests.support.programs.faked_clock import FakedClock

pytestmark = pytest.mark.load

LONGEST_SECONDS = 1  # for any answer
SILENT_SECONDS = 7  # after which a worker that seemed silent would get no new connections
SEALED_SECONDS = 20


async def created(store) -> dict[str, object]:
    """The events of created projects, by project."""
    found = [each async for each in store.scan(EVENTS) if each.type == "project.created"]
    assert len({each.record_id for each in found}) == len(found)
    return {each.record_id: each for each in found}


async def until_sealed(load, store) -> float:
    """The seconds until each event of what was acknowledged so far is sealed."""
    began, ids = time.monotonic(), set(load.names)
    async with asyncio.timeout(SEALED_SECONDS):
        while {id for id, each in (await created(store)).items() if each.position} < ids:
            await asyncio.sleep(0.1)
    return time.monotonic() - began


async def test_after_the_clock_was_set_workers_stay_and_each_event_is_sealed(
    new_groups, tmp_path, record_property
):
    clock = FakedClock(tmp_path)
    groups = new_groups(**clock.settings)
    await groups.start()
    workers = [sorted(group.workers()) for group in groups.groups]
    store, sealed = groups.place.store, []
    async with Load(groups).running() as load:
        for hours in (0, 2, -1):
            clock.set_ahead(hours=hours)
            await asyncio.sleep(SILENT_SECONDS)
            sealed.append(await until_sealed(load, store))
    events = await created(store)
    record_property(
        "counts",
        f"longest wait {longest(load.asked):.2f} of {len(load.asked)};"
        f" sealed after {', '.join(f'{each:.2f}' for each in sealed)}",
    )

    await groups.check()
    assert [sorted(group.workers()) for group in groups.groups] == workers
    assert "worker replaced" not in groups.printed
    assert "no new connections" not in groups.printed
    assert longest(load.asked) <= LONGEST_SECONDS
    assert not refused(load.asked)
    assert not set(load.names) - set(events), "an event is lost"
    assert has_times_of(events.values(), hours=2.9)  # the clock went on before it was set back
    verify, settings = ("audit", "verify"), {"IDP_STORE": groups.store_url}
    verified = await asyncio.to_thread(program.run, groups.directory, *verify, **settings)
    assert verified.returncode == 0, verified.stderr


def has_times_of(events, hours: float) -> bool:
    """Whether the programs had different times: without them, this module would show nothing."""
    times = [each.at for each in events]
    return (max(times) - min(times)).total_seconds() >= hours * 3600
