"""Spoilt requests to every address of the protocol: no failure, no stall, nothing half done."""

from __future__ import annotations

import pytest

from tests.fuzz.barrage import STALL_SECONDS, Barrage, check_unharmed
from tests.fuzz.world import SETTINGS, World
from tests.support.measured.stalls import watched

REQUESTS = 6_500
SEEDS = range(8)


@pytest.fixture
def settings() -> dict:
    return SETTINGS


@pytest.fixture
def world(io_loop, server, visitor) -> World:
    return io_loop.run_sync(lambda: World.make(server, visitor))


async def shoot(world, stranger, seed: int, requests: int) -> Barrage:
    async with watched() as stalls:
        barrage = Barrage(world, seed, stalls)
        await barrage.run(requests)
    await check_unharmed(world, stranger)
    return barrage


async def test_no_spoilt_request_does_any_harm(world, new_visitor):
    barrage = await shoot(world, new_visitor(), 0, 600)

    assert len(barrage.counts) > 12
    assert sum(barrage.counts.values()) == barrage.sent


@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
@pytest.mark.parametrize("seed", SEEDS)
async def test_no_great_number_of_spoilt_requests_does_any_harm(
    world, new_visitor, seed, record_property
):
    barrage = await shoot(world, new_visitor(), seed, REQUESTS)
    record_property("counts", barrage.told())

    assert barrage.stalls.longest < STALL_SECONDS
    assert len(barrage.counts) > 20
    assert len(SEEDS) * REQUESTS > 50_000


class TestOverMongodb:
    @pytest.fixture
    def settings(self, mongodb) -> dict:
        return SETTINGS | {"store": mongodb}

    @pytest.mark.load
    @pytest.mark.gen_test(timeout=600)
    async def test_no_spoilt_request_does_any_harm(self, world, new_visitor, record_property):
        barrage = await shoot(world, new_visitor(), 100, 3_000)
        record_property("counts", barrage.told())

        assert len(barrage.counts) > 20
