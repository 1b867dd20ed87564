"""How many passwords from one network are compared at once."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from idp.limits import comparisons
from idp.limits.comparisons import Comparisons


async def test_a_network_has_so_many_turns_and_the_next_attempt_waits():
    turns, other = Comparisons(), "192.0.2.2"
    async with AsyncExitStack() as taken:
        for _ in range(comparisons.MAX_CONCURRENT):
            assert await taken.enter_async_context(turns.turn("192.0.2.1"))
        waiting = asyncio.ensure_future(taken.enter_async_context(turns.turn("192.0.2.1")))
        await asyncio.sleep(0)

        async with turns.turn(other) as is_admitted:
            assert is_admitted
        assert not waiting.done()
        waiting.cancel()


@pytest.mark.promise("overload: measured hashes")
async def test_dear_hashes_take_no_turns_from_the_others_of_their_network():
    turns = Comparisons()
    async with AsyncExitStack() as taken:
        for _ in range(comparisons.MAX_CONCURRENT):
            await taken.enter_async_context(turns.turn("192.0.2.1", is_dear=True))
        waiting = asyncio.ensure_future(
            taken.enter_async_context(turns.turn("192.0.2.1", is_dear=True))
        )
        await asyncio.sleep(0)

        async with turns.turn("192.0.2.1") as is_admitted:
            assert is_admitted
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert turns._networks == {}
