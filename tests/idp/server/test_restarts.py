"""When workers that have ended are replaced, and when the supervisor gives up."""

from __future__ import annotations

from idp.server.restarts import Restarts
from idp.start import exit_codes


def test_a_worker_is_replaced_at_once_then_after_growing_pauses():
    restarts = Restarts()

    pauses = [restarts.pause(0, 1, uptime_seconds=0.1) for _ in range(9)]

    assert pauses == [0, 0.5, 1, 2, 4, 8, 16, 30, 30]
    assert restarts.pause(1, 1, uptime_seconds=0.1) == 0


def test_a_worker_that_lived_for_a_minute_is_replaced_at_once_again():
    restarts = Restarts()
    for _ in range(5):
        restarts.pause(0, 1, uptime_seconds=0.1)

    assert [restarts.pause(0, 1, uptime_seconds=seconds) for seconds in (60, 1, 1)] == [0, 0.5, 1]


def test_a_store_that_is_away_is_tried_every_4_seconds_and_is_no_failure():
    restarts = Restarts()

    assert [restarts.pause(0, exit_codes.UNREACHABLE, 1) for _ in range(3)] == [4, 4, 4]
    assert not any(restarts.record_failure(n, exit_codes.UNREACHABLE) for n in range(30))


def test_ten_failures_in_a_minute_are_enough():
    restarts = Restarts()

    assert [restarts.record_failure(6 * n, 1) for n in range(10)] == [False] * 9 + [True]


def test_ten_failures_in_more_than_a_minute_are_not_enough():
    restarts = Restarts()

    assert not any(restarts.record_failure(7 * n, 1) for n in range(30))


def test_a_worker_that_serves_makes_earlier_failures_count_no_more():
    restarts = Restarts()
    for n in range(9):
        restarts.record_failure(n, 1)
    restarts.record_serving()

    assert not restarts.record_failure(9, 1)
