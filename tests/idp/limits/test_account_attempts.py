"""The policy for the attempts at one account, as a table: what is counted, compared and locked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from idp.config.settings import Config
from idp.limits import account_attempts
from idp.limits.account_attempts import SLOW_INTERVAL
from idp.limits.backoffs import Delayed
from idp.records import Backoff, BrowserAttempts, FailureStreak, LockoutRules

NOW = datetime(2030, 1, 1, tzinfo=UTC)
DAY = NOW + timedelta(days=1)
LIMITS = account_attempts.limits_of(Config())
LOCKOUT = LockoutRules(max_password_attempts=3, max_otp_attempts=2)
LOCKING = account_attempts.limits_of(Config(), LOCKOUT)


def streak(**counts):
    return FailureStreak(id="dana", **counts)


def of_browser(tries, ends_at=DAY, agent_id="b"):
    return BrowserAttempts(agent_id=agent_id, tries=tries, ends_at=ends_at)


# Browsers that the account does not know


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("stored", "is_closed"),
    [
        ({"unknown": 0}, False),
        ({"unknown": 49}, False),
        ({"unknown": 50}, True),
        ({"unknown": 200}, True),
        ({"unknown": 50, "stays_open": True}, False),
        ({"unknown": 58, "stays_open": True}, False),
        ({"unknown": 59, "stays_open": True}, True),
    ],
)
def test_an_account_is_closed_at_fifty_or_where_it_stays_open_below_a_hundred(stored, is_closed):
    counted = account_attempts.with_unknown_browser(streak(**stored), "stamp", LIMITS)

    assert counted.is_closed == is_closed
    assert counted.streak.unknown == stored["unknown"] + 1
    assert LIMITS.max_slow + LIMITS.max_known < 100


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("stored", "ordinal", "limits", "is_first"),
    [
        (None, 1, LIMITS, False),
        (None, 5, LIMITS, False),
        (None, 6, LIMITS, True),
        (streak(unknown=34), 1, LIMITS, False),
        # Three login names, each with five attempts that are counted later.
        (streak(unknown=35), 1, LIMITS, True),
        (streak(unknown=50, stays_open=True), 1, LIMITS, True),
        (None, 1, LOCKING, True),
    ],
)
def test_an_attempt_that_may_be_one_of_the_last_is_counted_first(
    stored, ordinal, limits, is_first
):
    assert account_attempts.is_counted_first(stored, ordinal, limits) == is_first


def test_an_account_that_stays_open_has_one_attempt_in_half_an_hour():
    slow = account_attempts.backoff_limit(streak(unknown=50, stays_open=True), LIMITS)

    assert (slow.free, slow.delay) == (0, SLOW_INTERVAL)
    for other in (None, streak(unknown=49, stays_open=True), streak(unknown=50)):
        assert account_attempts.backoff_limit(other, LIMITS) == LIMITS.backoff


# Browsers that the account knows


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ({}, (1, [of_browser(1)])),
        ({"known": 9, "browsers": [of_browser(9)]}, (10, [of_browser(10)])),
        ({"known": 10, "browsers": [of_browser(10)]}, None),
        ({"known": 40}, None),
        ({"known": 39}, (40, [of_browser(1)])),
        # A day later this browser has ten more; the sum of all remains.
        ({"known": 10, "browsers": [of_browser(10, NOW)]}, (11, [of_browser(1)])),
        (
            {"known": 4, "browsers": [of_browser(4, agent_id="c")]},
            (5, [of_browser(1), of_browser(4, agent_id="c")]),
        ),
    ],
)
def test_a_known_browser_has_ten_attempts_and_all_of_them_forty(stored, expected):
    counted = account_attempts.with_known_browser(streak(**stored), "stamp", "b", LIMITS, NOW)

    assert (counted and (counted.streak.known, counted.streak.browsers)) == expected


# The lockout policy


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("stored", "failures", "is_locked", "locks"),
    [
        ({}, 1, False, False),
        ({"lockout_stamp": "stamp", "lockout_passwords": 1}, 2, False, False),
        ({"lockout_stamp": "stamp", "lockout_passwords": 2}, 3, False, True),
        ({"lockout_stamp": "stamp", "lockout_passwords": 3}, 4, True, True),
        # Another stamp: the user was locked and unlocked, or has another password.
        ({"lockout_stamp": "before", "lockout_passwords": 9}, 1, False, False),
    ],
)
def test_a_lockout_policy_compares_no_more_passwords_than_it_says(
    stored, failures, is_locked, locks
):
    before = streak(**stored)
    for counted in (
        account_attempts.with_unknown_browser(before, "stamp", LOCKING),
        account_attempts.with_known_browser(before, "stamp", "b", LOCKING, NOW),
    ):
        assert counted.streak.lockout_passwords == counted.lockout_ordinal == failures
        assert (counted.is_locked, counted.locks_if_wrong) == (is_locked, locks)


def test_without_a_lockout_policy_nothing_is_counted_for_it():
    counted = account_attempts.with_unknown_browser(streak(), "stamp", LIMITS)

    assert (counted.streak.lockout_stamp, counted.lockout_ordinal) == (None, 0)
    assert (counted.is_locked, counted.locks_if_wrong) == (False, False)


# Codes


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("kind", "stored", "expected"),
    [
        ("factor", {}, (1, False, 1)),
        ("factor", {"codes": 49}, (50, False, 1)),
        ("factor", {"codes": 50}, (51, True, 1)),
        ("recovery", {"codes": 50}, (50, False, 1)),
        ("new-factor", {"codes": 50}, (50, False, 0)),
    ],
)
def test_codes_of_an_app_are_closed_after_fifty(kind, stored, expected):
    counted = account_attempts.with_code(streak(**stored), "stamp", kind, LOCKING, NOW)

    assert (counted.streak.codes, counted.is_closed, counted.lockout_ordinal) == expected
    assert [(backoff.name, backoff.tries) for backoff in counted.streak.backoffs] == [(kind, 1)]


def test_each_kind_of_codes_has_its_own_delay():
    waiting = Backoff(
        name="factor", tries=5, ends_at=DAY, delayed_until=NOW + timedelta(seconds=1)
    )
    stored = streak(backoffs=[waiting])

    assert account_attempts.with_code(stored, "stamp", "factor", LIMITS, NOW) == Delayed(
        waiting.delayed_until
    )
    other = account_attempts.with_code(stored, "stamp", "recovery", LIMITS, NOW)
    assert [backoff.name for backoff in other.streak.backoffs] == ["recovery", "factor"]


# What ends the counts


FULL = streak(
    unknown=5,
    known=4,
    browsers=[of_browser(4)],
    codes=3,
    mail_codes=2,
    stays_open=True,
    told_at=NOW,
    backoffs=[
        Backoff(name=name, tries=1, ends_at=DAY) for name in ("factor", "recovery", "new-factor")
    ],
    lockout_stamp="stamp",
    lockout_passwords=2,
    lockout_codes=1,
)


def test_a_right_password_ends_the_counts_of_passwords_alone():
    after = account_attempts.after_password(FULL)

    assert after == structs.replace(
        FULL, unknown=0, known=0, browsers=[], stays_open=False, told_at=None, lockout_passwords=0
    )
    assert not account_attempts.is_empty(after)


@pytest.mark.parametrize(
    ("kind", "left"), [("factor", ["recovery", "new-factor"]), ("recovery", ["new-factor"])]
)
def test_a_right_code_ends_the_counts_of_codes_alone(kind, left):
    after = account_attempts.after_code(FULL, kind)

    assert [backoff.name for backoff in after.backoffs] == left
    assert after == structs.replace(FULL, codes=0, lockout_codes=0, backoffs=after.backoffs)


def test_a_streak_without_counts_is_empty():
    cleared = account_attempts.after_code(account_attempts.after_password(FULL), "recovery")
    cleared = account_attempts.after_new_factor(cleared)

    assert not account_attempts.is_empty(cleared), "codes of mails are counted"
    assert account_attempts.is_empty(structs.replace(cleared, mail_codes=0))


@pytest.mark.parametrize("browser_id", [None, "b"])
def test_an_attempt_that_was_not_compared_is_subtracted(browser_id):
    before = structs.replace(FULL, browsers=[of_browser(4), of_browser(2, agent_id="c")])
    if browser_id is None:
        counted = account_attempts.with_unknown_browser(before, "stamp", LOCKING)
    else:
        counted = account_attempts.with_known_browser(before, "stamp", "b", LOCKING, NOW)

    assert counted.streak != before
    assert account_attempts.without_attempt(counted.streak, counted, browser_id) == before


def test_nothing_is_subtracted_from_counts_that_a_success_has_ended():
    counted = account_attempts.with_unknown_browser(FULL, "stamp", LOCKING)
    ended = account_attempts.after_password(counted.streak)

    assert account_attempts.without_attempt(ended, counted, None) == ended
