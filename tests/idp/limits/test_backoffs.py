"""The rate of attempts at one secret: which one is compared, and how long the others wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from idp.limits import backoffs
from idp.limits.backoffs import BackoffLimit, Delayed
from idp.records import Backoff

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
        # The clock was set back: neither the delay nor the day becomes longer.
        (backoff(9, 60), LIMIT, Delayed(after(60))),
        (backoff(9, 61), LIMIT, backoff(10, 32)),
        (backoff(9, 61, ends_at=86_401), LIMIT, backoff(1)),
    ],
)
def test_an_attempt_is_counted_or_waits(stored, limit, expected):
    assert backoffs.claimed(stored, "n", limit, NOW) == expected


def test_an_attempt_that_was_not_compared_is_counted_no_longer():
    assert backoffs.taken_back(backoff(3)).tries == 2
    assert backoffs.taken_back(backoff(0)).tries == 0


def test_a_success_subtracts_the_attempts_at_its_own_account():
    counted = backoff(0)
    for account in ("a", "b", "a"):
        counted = backoffs.with_account(structs.replace(counted, tries=counted.tries + 1), account)
    left = backoffs.without_account(counted, "a")

    assert (counted.tries, backoffs.tries_of(counted, "a")) == (3, 2)
    assert (left.tries, [each.account for each in left.accounts]) == (1, ["b"])
    assert backoffs.without_account(left, "b") is None
    assert backoffs.without_account(left, "c") == left
    assert backoffs.tries_of(backoffs.taken_back(counted, "a"), "a") == 1


def test_of_many_accounts_of_one_login_name_the_latest_are_counted():
    counted = backoff(40)
    for n in range(40):
        counted = backoffs.with_account(counted, str(n))

    assert [each.account for each in counted.accounts] == [str(n) for n in range(39, 23, -1)]
