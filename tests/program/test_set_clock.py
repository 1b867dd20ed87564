"""The machine's clock is set ahead and back while a program serves."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from idp.records import EVENTS
from tests.flows.conftest import at
from tests.support import patience
from tests.support.programs.faked_clock import FakedClock

PROJECT = "/management/v1/projects"


async def unsealed(store) -> list[str]:
    """The events of created projects that have no position yet."""
    events = [each async for each in store.scan(EVENTS) if each.type == "project.created"]
    return [each.record_id for each in events if not each.position]


@pytest.mark.full
async def test_after_the_clock_was_set_workers_stay_and_each_event_is_sealed(
    start_program, tmp_path
):
    clock = FakedClock(tmp_path)
    program = start_program("--processes", "2", "--admin-pat", "pat", **clock.settings)
    place, workers = await at(program), program.workers()
    sent = {"Authorization": f"Bearer {program.announcement['adminPat']}"}
    statuses = []
    async with httpx.AsyncClient(
        base_url=program.issuer, headers=sent, timeout=patience.SECONDS
    ) as client:
        for hours in (2, -1):
            clock.set_ahead(hours=hours)
            answer = await client.post(PROJECT, json={"name": f"at {hours} hours"})
            statuses.append(answer.status_code)
            async with asyncio.timeout(patience.SECONDS):
                while await unsealed(place.store):
                    await asyncio.sleep(0.1)
    times = [each.at async for each in place.store.scan(EVENTS) if each.type == "project.created"]
    await place.store.close()

    assert statuses == [200, 200]
    assert program.workers() == workers
    assert "worker replaced" not in program.printed
    assert (max(times) - min(times)).total_seconds() > 2.9 * 3600
