"""Requests are counted for a minute, in bounded memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from idp.limits.request_counts import MAX_KEYS, RequestCounts

NOW = datetime(2026, 11, 23, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_so_many_are_let_through_in_a_minute_and_then_it_begins_anew():
    counts = RequestCounts()

    assert [counts.wait_seconds(after(n), "kind", "net", 3) for n in (0, 10, 20)] == [0, 0, 0]
    assert counts.wait_seconds(after(20.5), "kind", "net", 3) == 40
    assert counts.wait_seconds(after(59.9), "kind", "net", 3) == 1
    assert counts.wait_seconds(after(60), "kind", "net", 3) == 0


def test_each_key_and_each_kind_has_a_count_of_its_own():
    counts = RequestCounts()
    counts.wait_seconds(NOW, "kind", "net", 1)

    assert counts.wait_seconds(NOW, "kind", "net", 1) == 60
    assert counts.wait_seconds(NOW, "kind", "other", 1) == 0
    assert counts.wait_seconds(NOW, "other", "net", 1) == 0


def test_a_clock_that_is_set_back_keeps_nobody_out():
    counts = RequestCounts()
    counts.wait_seconds(after(3600), "kind", "net", 1)

    assert counts.wait_seconds(NOW, "kind", "net", 1) == 0


def test_a_key_that_is_used_keeps_its_count_beyond_the_most_keys():
    counts = RequestCounts()
    for n in range(MAX_KEYS):
        counts.wait_seconds(NOW, "kind", "used", 10**9 if n == 0 else 1)
        counts.wait_seconds(NOW, "kind", str(n), 1)

    assert counts.wait_seconds(NOW, "kind", "used", 1) > 0


@pytest.mark.promise("security: limits")
def test_many_networks_take_no_more_memory_than_the_newest_of_them():
    counts = RequestCounts()
    counts.wait_seconds(NOW, "kind", "the first", 1)
    for n in range(MAX_KEYS + 100):
        counts.wait_seconds(after(1), "kind", str(n), 1)

    assert len(counts._windows) == MAX_KEYS
    assert counts.wait_seconds(after(1), "kind", str(MAX_KEYS), 1) > 0
    assert counts.wait_seconds(after(1), "kind", "the first", 1) == 0
