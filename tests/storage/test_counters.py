"""Counters with a window, by the injected clock: lockouts and rate limits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from storage import InvalidValue

MINUTE = timedelta(minutes=1)


async def test_a_counter_adds_up_within_its_window(store):
    await store.increment("k", window=MINUTE)
    await store.increment("k", 5, window=MINUTE)

    assert (await store.increment("k", window=MINUTE)).n == 7


async def test_the_window_starts_at_the_first_increment_and_is_not_prolonged(store, clock):
    ends = clock.now() + MINUTE
    first = await store.increment("k", window=MINUTE)
    clock.advance(59)
    second = await store.increment("k", window=MINUTE)

    assert (first.resets_at, second.resets_at) == (ends, ends)


async def test_a_counter_starts_anew_when_its_window_has_ended(store, clock):
    await store.increment("k", 9, window=MINUTE)
    clock.advance(60)
    counter = await store.increment("k", window=MINUTE)

    assert (counter.n, counter.resets_at) == (1, clock.now() + MINUTE)
    assert (await store.increment("k", window=MINUTE)).n == 2


async def test_a_reset_counter_starts_anew(store):
    await store.increment("k", 9, window=MINUTE)
    await store.reset("k")
    await store.reset("never used")

    assert (await store.increment("k", window=MINUTE)).n == 1


async def test_counters_are_apart_by_key(store):
    await store.increment("a", window=MINUTE)

    assert (await store.increment("b", window=MINUTE)).n == 1


async def test_an_increment_by_nothing_returns_the_state(store):
    await store.increment("k", 3, window=MINUTE)

    assert (await store.increment("k", 0, window=MINUTE)).n == 3


@pytest.mark.parametrize("key", ["", "\0", "\ud800", "x" * 201])
async def test_a_key_that_can_be_no_id_is_refused(store, key):
    with pytest.raises(InvalidValue):
        await store.increment(key, window=MINUTE)
