from __future__ import annotations

from datetime import UTC, datetime, timedelta

from idp.foundation.clock import SystemClock
from tests.support.clock import START, SteppingClock


def test_the_system_clock_gives_utc_cut_to_milliseconds():
    before = datetime.now(UTC)

    now = SystemClock().now()

    assert now.tzinfo is UTC
    assert now.microsecond % 1000 == 0
    assert before - timedelta(milliseconds=1) <= now <= datetime.now(UTC)


def test_the_stepping_clock_stands_still_until_it_is_moved():
    start = datetime(2026, 1, 2, 3, 4, 5, 6789, tzinfo=UTC)
    clock = SteppingClock(start)

    assert clock.now() == clock.now() == start.replace(microsecond=6000)
    assert clock.advance(90) == start.replace(microsecond=6000) + timedelta(seconds=90)
    assert clock.advance(timedelta(days=-1)) == clock.now()


def test_the_stepping_clock_starts_at_the_same_instant_in_every_run():
    assert SteppingClock().now() == START == SteppingClock().now()
