"""Which backups of a series are retained."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from idp.backup.retention import parse, retained

LAST = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)  # a Sunday


def at(*days_before: float):
    return {LAST - timedelta(days=days) for days in days_before}


@pytest.mark.parametrize(
    ("rule", "days_before"),
    [
        ("3d", (0, 1, 2)),
        ("2w", (0, 7)),
        ("3m", (0, 1, 29)),
        ("1y", (0,)),
        ("2y", (0, 60)),
        ("2d,2w,2m", (0, 1, 7)),
    ],
)
def test_of_daily_backups_the_latest_of_each_period_is_retained(rule, days_before):
    daily = at(*range(100))

    assert retained(daily, parse(rule)) == at(*days_before)


def test_of_several_in_one_period_the_last_one_is_retained():
    hourly = {LAST - timedelta(hours=hours) for hours in range(48)}

    # Of the last day at noon, of the days before at the end of the day.
    assert retained(hourly, parse("2d,1h")) == {LAST, LAST.replace(day=28, month=2, hour=23)}


def test_periods_without_a_backup_do_not_count():
    assert retained(at(0, 300, 301, 700), parse("3d")) == at(0, 300, 301)


@pytest.mark.parametrize("seed", range(20))
def test_something_is_retained_of_whatever_there_is_and_the_last_one_always(seed):
    chance = random.Random(seed)
    found = at(*(chance.uniform(0, 2000) for _ in range(chance.randrange(1, 60))))
    rule = {unit: chance.randrange(1, 9) for unit in chance.sample("hdwmy", 1 + seed % 5)}

    remaining = retained(found, rule)

    assert max(found) in remaining
    assert len(remaining) <= sum(rule.values())
    assert retained(remaining, rule) == remaining


@pytest.mark.parametrize(
    "text", ["", "7", "d", "0d", "7x", "7d,", "7d 4w", "7d,3d", "-1d", "7.5d"]
)
def test_a_rule_that_is_none_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="7d,4w,12m"):
        parse(text)


def test_a_rule_may_have_spaces_after_its_commas():
    assert parse("7d, 4w,12m") == {"d": 7, "w": 4, "m": 12}
