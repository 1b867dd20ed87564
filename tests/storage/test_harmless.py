"""What can't be stored is refused to whoever sent it, and harms nobody else in the same moment."""

from __future__ import annotations

import asyncio
import decimal
from datetime import datetime, timedelta

import pytest

from storage import (
    MAX_RECORD_BYTES,
    Insert,
    InvalidValue,
    Update,
)
from tests.storage.records import ENTRIES, USERS, Entry, Profile, user

LARGE = "x" * (MAX_RECORD_BYTES - 2)
HARMFUL = {
    "a lone surrogate": "\ud800",
    "NUL": "\0",
    "too large": "x" * MAX_RECORD_BYTES,
    "bytes": b"x",
    "a number": 1,
    "a float that is none": float("nan"),
    "an unknown type": object(),
    "a type": str,
    "a set": {"x"},
    "a decimal": decimal.Decimal(1),
    "a naive instant": datetime(2026, 1, 1),
}


def good(n):
    return [
        [Insert(ENTRIES, Entry(id=f"e{n}"))],
        [Update(USERS, "ann", increment={"n": 1})],
        [Insert(ENTRIES, Entry(id=f"f{n}")), Update(USERS, "ann", increment={"n": 1})],
    ][n % 3]


def bad(n, value):
    return [
        [Insert(USERS, user("bad", note=value))],
        [Update(USERS, "ann", set={"note": value})],
        [Update(USERS, "ann", increment={"n": 1}, expect={"note": value})],
        [Insert(ENTRIES, Entry(id="bad")), Insert(USERS, user("bad", tags=[value]))],
        [Insert(USERS, user("bad", tags=("fine", value)))],
    ][n % 5]


async def outcomes(store, units):
    """One by one and in bulk, all at once: what came of each unit."""
    half = len(units) // 2
    singly = [store.commit(*unit) for unit in units[:half]]
    bulk, *single = await asyncio.gather(
        store.commit_each(units[half:]), *singly, return_exceptions=True
    )
    assert not isinstance(bulk, BaseException), bulk
    return [*single, *bulk]


@pytest.mark.parametrize("value", HARMFUL.values(), ids=HARMFUL)
async def test_a_value_that_can_not_be_stored_harms_nobody_else(store, value):
    await store.commit(Insert(USERS, user("ann")))
    units = [bad(n // 3, value) if n % 3 == 1 else good(n) for n in range(48)]
    found = await outcomes(store, units)

    assert [type(o) for o in found[1::3]] == [InvalidValue] * 16
    assert [o for n, o in enumerate(found) if n % 3 != 1] == [None] * 32
    assert await store.count(ENTRIES) == 32
    assert await store.get(USERS, "ann") == user("ann", n=16)
    assert await store.get(USERS, "bad") is None


@pytest.mark.parametrize("by", [2**63, -(2**63) - 1, 1.5, "1", True, None, object()])
async def test_a_count_by_what_is_no_number_is_refused(store, by):
    window = timedelta(hours=1)
    counted = await asyncio.gather(
        *(store.increment("k", each, window=window) for each in (1, by, 1)),
        return_exceptions=True,
    )

    assert [type(counted[1])] == [InvalidValue]
    assert (await store.increment("k", 0, window=window)).n == 2


async def test_a_sum_beyond_64_bits_is_refused_alone(store):
    await store.commit(Insert(USERS, user("rich", n=2**63 - 1)))

    await is_refused_alone(store, Update(USERS, "rich", increment={"n": 1}))


async def test_what_would_grow_beyond_a_record_is_refused_alone(store):
    """The contract says 4 MiB; of what is there already MongoDB knows only its own limit, 16."""
    await store.commit(Insert(USERS, user("large", profile=Profile(name=""))))
    fields = {"note": LARGE, "tags": [LARGE], "profile.name": LARGE, "profile.nick": LARGE}
    for field, value in fields.items():
        growth = Update(USERS, "large", set={field: value})
        try:
            await store.commit(growth)
        except InvalidValue:
            break

    await is_refused_alone(store, growth)


async def is_refused_alone(store, change):
    """By itself and in a unit, singly and in bulk, between changes that are applied."""
    ids = [f"u{n}" for n in range(10)]
    await store.commit_each([[Insert(USERS, user(id))] for id in ids])
    fine = [[Update(USERS, id, increment={"n": 1})] for id in ids]
    units = [*fine[:5], [change], [Insert(ENTRIES, Entry(id="half")), change], *fine[5:]]
    singly = await asyncio.gather(*(store.commit(*unit) for unit in units), return_exceptions=True)
    in_bulk = await store.commit_each(units)

    for found in (singly, in_bulk):
        assert [o and type(o) for o in found] == [None] * 5 + [InvalidValue] * 2 + [None] * 5
    assert [(await store.get(USERS, id)).n for id in ids] == [2] * 10
    assert await store.count(ENTRIES) == 0


async def test_an_update_is_no_larger_than_a_record(store):
    await store.commit(Insert(USERS, user("ann")))
    with pytest.raises(InvalidValue):
        await store.commit(Update(USERS, "ann", set={"tags": [LARGE], "note": LARGE}))

    assert (await store.get(USERS, "ann")).note is None
