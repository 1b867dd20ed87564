"""Requests made of a description of the protocol's forms: no failure, no stall, nothing half
done."""

from __future__ import annotations

import pytest

from tests.fuzz import described
from tests.fuzz.barrage import STALL_SECONDS, Barrage, check_unharmed
from tests.fuzz.world import SETTINGS, World
from tests.support.measured.stalls import watched

EXAMPLES = 80


@pytest.fixture
def settings() -> dict:
    return SETTINGS


@pytest.fixture
def world(io_loop, server, visitor) -> World:
    made = io_loop.run_sync(lambda: World.make(server, visitor))
    io_loop.run_sync(made.renew)
    return made


@pytest.mark.load
@pytest.mark.gen_test(timeout=1800)
async def test_no_described_request_does_any_harm(world, new_visitor, record_property):
    requests = list(described.cases(world, EXAMPLES))
    async with watched() as stalls:
        barrage = Barrage(world, 0, stalls)
        await barrage.send(iter(requests))
    await check_unharmed(world, new_visitor())
    record_property("counts", barrage.told())

    assert barrage.sent == len(requests) > 25 * EXAMPLES
    assert stalls.busiest < STALL_SECONDS
