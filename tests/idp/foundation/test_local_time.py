"""Instants and durations as users read them."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta

import pytest

from idp.foundation import i18n
from idp.foundation.localization import local_time

NOON = datetime(2026, 11, 22, 12, 5, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en", "November 22, 2026"),
        ("de", "22. November 2026"),
        ("fr", "22 novembre 2026"),
        ("ja", "2026年11月22日"),
        ("ar", "22 نوفمبر 2026"),
        ("en-XA", "November 22, 2026"),
    ],
)
def test_a_date_is_in_its_language(tag, text):
    assert local_time.date(NOON, UTC, tag) == text


def test_a_time_is_that_of_the_zone():
    tokyo = local_time.zone("Asia/Tokyo")

    assert local_time.date_time(NOON, tokyo, "de") == "22. November 2026, 21:05"
    assert local_time.date_time(NOON, UTC, "de") == "22. November 2026, 12:05"


def test_the_last_instant_is_a_date_in_every_zone():
    last, first = (each.replace(tzinfo=UTC) for each in (datetime.max, datetime.min))

    assert local_time.date(last, local_time.zone("Asia/Tokyo"), "en") == "December 31, 9999"
    assert local_time.date(first, local_time.zone("America/New_York"), "en") == "January 1, 1"


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("Europe/Zurich", "Asia/Tokyo"), "Europe/Zurich"),
        ((None, "", "Asia/Tokyo"), "Asia/Tokyo"),
        (("../../etc/passwd", "Nowhere/None", "Asia/Tokyo"), "Asia/Tokyo"),
        (("localtime", "UTC"), "UTC"),
    ],
)
def test_the_first_zone_that_exists_is_used(names, key):
    assert str(local_time.zone(*names)) == key


def test_without_a_zone_it_is_utc():
    assert local_time.zone(None, "no zone", "\0", "a" * 10_000) is UTC


def test_every_zone_can_be_loaded():
    assert "Europe/Zurich" in local_time.zones()
    assert all(zoneinfo.ZoneInfo(name) for name in local_time.zones())


@pytest.mark.parametrize(
    ("passed", "text"),
    [
        (timedelta(0), "1 second ago"),
        (timedelta(minutes=3), "3 minutes ago"),
        (timedelta(days=7), "7 days ago"),
        (timedelta(days=8), "November 14, 2026"),
        (timedelta(seconds=-5), "November 22, 2026"),
    ],
)
def test_what_was_a_short_while_ago_is_said_so(passed, text):
    said = local_time.relative(NOON - passed, NOON, UTC, "en")

    assert said.replace("1 week", "7 days") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds"),
        (90, "90 seconds"),
        (3600, "1 hour"),
        (36 * 3600, "36 hours"),
        (10 * 86400, "10 days"),
    ],
)
def test_a_duration_is_in_its_largest_whole_unit(seconds, text):
    assert local_time.duration(seconds, "en") == text


@pytest.mark.parametrize("tag", i18n.available())
def test_every_language_has_its_dates(tag):
    assert local_time.date_time(NOON, UTC, tag)
    assert local_time.relative(NOON, NOON, UTC, tag)
