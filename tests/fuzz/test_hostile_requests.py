"""Spoilt requests to every address of the protocol: no failure, no stall, nothing half done."""

from __future__ import annotations

import pytest

from tests.fuzz.barrage import STALL_SECONDS, Barrage
from tests.fuzz.world import SETTINGS, World
from tests.support import invariants
from tests.support.answers import assert_granted
from tests.support.stalls import watched

REQUESTS = 6_500
SEEDS = range(8)


@pytest.fixture
def settings() -> dict:
    return SETTINGS


@pytest.fixture
def world(io_loop, server, visitor) -> World:
    return io_loop.run_sync(lambda: World.make(server, visitor))


async def shoot(world, stranger, seed: int, requests: int) -> Barrage:
    """Send the requests; afterwards the store is sound, and genuine requests are answered."""
    async with watched() as stalls:
        barrage = Barrage(world, seed, stalls)
        await barrage.run(requests)
    await world.renew()
    await invariants.hold(world.server.store, secrets=world.held)
    party = world.server.demo()
    tokens = await party.tokens(stranger, *world.server.user)
    assert_granted(await party.refresh(stranger, tokens["refresh_token"]))
    return barrage


def told(barrage: Barrage) -> str:
    kinds = ", ".join(f"{n} x {kind}" for kind, n in barrage.counts.most_common())
    stalls = [f"{1000 * each:.0f} ms" for each in (barrage.stalls.longest, barrage.stalls.busiest)]
    stall = f"longest stall {stalls[0]}, {stalls[1]} of them computing"
    return f"{barrage.sent} requests, seed {barrage.seed}, {stall}: {kinds}"


@pytest.mark.gen_test(timeout=120)
async def test_no_spoilt_request_does_any_harm(world, new_visitor):
    barrage = await shoot(world, new_visitor(), 0, 600)

    print(told(barrage))
    assert len(barrage.counts) > 12
    assert sum(barrage.counts.values()) == barrage.sent


@pytest.mark.deep
@pytest.mark.alone
@pytest.mark.gen_test(timeout=600)
@pytest.mark.parametrize("seed", SEEDS)
async def test_no_great_number_of_spoilt_requests_does_any_harm(
    world, new_visitor, seed, record_property
):
    barrage = await shoot(world, new_visitor(), seed, REQUESTS)
    record_property("counts", told(barrage))

    assert barrage.stalls.longest < STALL_SECONDS
    assert len(barrage.counts) > 20
    assert len(SEEDS) * REQUESTS > 50_000
