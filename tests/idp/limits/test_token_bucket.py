"""A bound on how often: so many at once, so many a second in the long run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idp.limits.token_bucket import ClientTokenBucket, TokenBucket, TokenBuckets
from tests.support.clock import SteppingClock


def test_a_burst_is_let_through_and_no_more():
    pace, clock = TokenBucket(burst=3, per_second=2), SteppingClock()

    assert [pace.allows(clock.now()) for _ in range(5)] == [True, True, True, False, False]


def test_time_gives_back_what_was_used_and_never_more_than_a_burst():
    pace, clock = TokenBucket(burst=3, per_second=2), SteppingClock()
    for _ in range(5):
        pace.allows(clock.now())
    clock.advance(1)
    after_a_second = [pace.allows(clock.now()) for _ in range(3)]
    clock.advance(3600)
    after_an_hour = [pace.allows(clock.now()) for _ in range(4)]

    assert after_a_second == [True, True, False]
    assert after_an_hour == [True, True, True, False]


@pytest.mark.full
@given(st.lists(st.floats(min_value=-100, max_value=100), max_size=50))
def test_no_way_of_the_clock_gives_more_than_its_time_forward(steps):
    pace, clock = TokenBucket(burst=3, per_second=1), SteppingClock()
    passed = 0
    for step in steps:
        clock.advance(step)
        passed += pace.allows(clock.now())

    assert passed <= 3 + sum(step for step in steps if step > 0) + 0.1


def test_a_key_that_has_used_its_tokens_up_leaves_room_for_others():
    pace = ClientTokenBucket(burst=2, per_second=0.1, all_burst=4, all_per_second=1)
    now = SteppingClock().now()

    assert [pace.allows(now, "a") for _ in range(3)] == [True, True, False]
    assert [pace.allows(now, "b") for _ in range(3)] == [True, True, False]
    assert not pace.allows(now, "c"), "all together have used theirs up"


def test_a_key_that_is_used_keeps_its_bucket_beyond_the_most_keys():
    buckets, now = TokenBuckets(burst=3, per_second=1, max_keys=2), SteppingClock().now()
    allowed = [(buckets.allows(now, str(n)), buckets.allows(now, "used"))[1] for n in range(10)]

    assert allowed == [True] * 3 + [False] * 7
    assert len(buckets) == 2


@pytest.mark.full
def test_many_keys_take_no_more_than_the_limit_of_all():
    pace, clock = (
        ClientTokenBucket(burst=60, per_second=0.1, all_burst=600, all_per_second=0.5),
        SteppingClock(),
    )
    allowed = 0
    for second in range(20_000):
        clock.advance(1)
        allowed += pace.allows(clock.now(), f"network {second % 5_000}")

    assert allowed <= 600 + 20_000 * 0.5 + 1
    assert len(pace._buckets) <= 1_000
