"""The rate of attempts at one secret: which one is compared, and how long the others wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from idp.limits import backoffs
from idp.limits.backoffs import BackoffLimit, Delayed
from idp.records import Backoff, FailedFrom

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LIMIT = BackoffLimit(free=5, max_delay_seconds=60)
SLOW = BackoffLimit(free=0, max_delay_seconds=60, delay=timedelta(minutes=30))


def after(seconds):
    return NOW + timedelta(seconds=seconds)


def backoff(tries, delayed_until=None, ends_at=86_400):
    until = None if delayed_until is None else after(delayed_until)
    return Backoff(name="n", tries=tries, ends_at=after(ends_at), delayed_until=until)


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("stored", "limit", "expected"),
    [
        (None, LIMIT, backoff(1)),
        (backoff(4), LIMIT, backoff(5)),
        (backoff(5), LIMIT, backoff(6, 2)),
        (backoff(6, 0), LIMIT, backoff(7, 4)),
        (backoff(6, 1), LIMIT, Delayed(after(1))),
        (backoff(9, 0), LIMIT, backoff(10, 32)),
        (backoff(10, 0), LIMIT, backoff(11, 60)),
        (backoff(4000, 0), LIMIT, backoff(4001, 60)),
        # A limit that was raised admits at once what waited for the old one.
        (backoff(4, 50), LIMIT, backoff(5)),
        # The day is over: attempts begin at the first one.
        (backoff(9, 0, ends_at=0), LIMIT, backoff(1)),
        (None, SLOW, backoff(1, 1800)),
        (backoff(1, 1), SLOW, Delayed(after(1))),
        (backoff(9, 0), SLOW, backoff(10, 1800)),
        (backoff(9, 1, ends_at=0), SLOW, Delayed(after(1))),
    ],
)
def test_an_attempt_is_counted_or_waits(stored, limit, expected):
    assert backoffs.claimed(stored, "n", limit, NOW) == expected


def test_an_attempt_that_was_not_compared_is_counted_no_longer():
    assert backoffs.taken_back(backoff(3)).tries == 2
    assert backoffs.taken_back(backoff(0)).tries == 0


def test_a_network_counts_an_account_for_an_hour():
    counted = backoffs.with_networks(backoff(1), ["a", "b"], NOW)

    assert backoffs.new_networks(None, ["a"], NOW) == ["a"]
    assert backoffs.new_networks(counted, ["a", "b", "c"], after(3599)) == ["c"]
    assert backoffs.new_networks(counted, ["a", "b"], after(3600)) == ["a", "b"]
    assert backoffs.new_networks(backoffs.without_networks(counted, ["a"]), ["a", "b"], NOW) == [
        "a"
    ]


def test_of_many_networks_the_newest_are_recorded():
    counted = backoff(1)
    for n in range(40):
        counted = backoffs.with_networks(counted, [str(n)], NOW)

    assert [each.network for each in counted.networks] == [str(n) for n in range(39, 23, -1)]
    again = backoffs.with_networks(counted, ["24"], after(60))
    assert again.networks[0] == FailedFrom(network="24", ends_at=after(3660))
    assert len(again.networks) == len(counted.networks)
