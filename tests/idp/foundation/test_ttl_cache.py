"""What was read a moment ago is not read again, and after five seconds it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from idp.foundation import ttl_cache
from idp.foundation.ttl_cache import TtlCache

NOON = datetime(2040, 5, 17, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=ttl_cache.MAX_AGE_SECONDS)


class Source:
    """Gives another number each time."""

    def __init__(self):
        self.n = 0

    async def read(self):
        self.n += 1
        return self.n


@pytest.fixture
def source():
    return Source()


@pytest.mark.parametrize(
    ("at", "expected"),
    [(NOON, 1), (LATER, 1), (LATER + timedelta(seconds=1), 2), (NOON - timedelta(days=1), 2)],
)
async def test_a_value_is_read_again_once_it_is_too_old_by_the_clock(source, at, expected):
    kept = TtlCache()
    await kept.get("a", NOON, source.read)

    assert await kept.get("a", at, source.read) == expected


async def test_a_value_is_too_old_by_the_machine_s_own_time_too(source, monkeypatch):
    kept = TtlCache()
    await kept.get("a", NOON, source.read)
    monkeypatch.setattr(ttl_cache, "MAX_AGE_SECONDS", -1.0)

    assert await kept.get("a", NOON, source.read) == 2


async def test_what_is_forgotten_is_read_again(source):
    kept = TtlCache()
    await kept.get("a", NOON, source.read)
    kept.forget()

    assert await kept.get("a", NOON, source.read) == 2


async def test_what_was_read_before_a_change_is_not_cached_after_it(source):
    kept = TtlCache()

    async def read_and_change():
        value = await source.read()
        kept.forget()
        return value

    assert await kept.get("a", NOON, read_and_change) == 1
    assert await kept.get("a", NOON, source.read) == 2


async def test_each_name_has_its_value_and_so_many_are_stored(source, monkeypatch):
    monkeypatch.setattr(ttl_cache, "_MAX_VALUES", 2)
    kept = TtlCache()
    first = [await kept.get(name, NOON, source.read) for name in ("a", "b", "a", "b")]
    await kept.get("c", NOON, source.read)

    assert first == [1, 2, 1, 2]
    assert await kept.get("c", NOON, source.read) == 3
    assert await kept.get("a", NOON, source.read) == 4


async def test_what_can_not_be_read_is_not_stored(source):
    async def fails():
        raise LookupError

    kept = TtlCache()
    with pytest.raises(LookupError):
        await kept.get("a", NOON, fails)

    assert await kept.get("a", NOON, source.read) == 1
