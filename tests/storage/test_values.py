"""What may be stored, and what comes back of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest

from storage import MAX_ID_CHARACTERS, MAX_RECORD_BYTES, Delete, Insert, InvalidValue, Update
from tests.storage.records import ENTRIES, USERS, Entry, Profile, later, user


@pytest.fixture
def ann(io_loop, store):
    ann = user("ann", profile=Profile("Ann"), tags=["a"])
    io_loop.run_sync(lambda: store.commit(Insert(USERS, ann)))
    return ann


async def test_instants_come_back_in_utc_cut_to_milliseconds(store):
    berlin = timezone(timedelta(hours=1))
    given = datetime(2026, 5, 6, 8, 9, 10, 123999, berlin)
    await store.commit(Insert(USERS, user("a", created_at=given)))

    got = (await store.get(USERS, "a")).created_at
    assert (got, got.utcoffset()) == (datetime(2026, 5, 6, 7, 9, 10, 123000, UTC), timedelta(0))


async def test_an_expected_instant_is_cut_to_milliseconds_too(store):
    given = datetime(2026, 5, 6, 7, 8, 9, 123999, UTC)
    await store.commit(Insert(USERS, user("a", profile=Profile("A", seen_at=given))))
    again = Update(
        USERS, "a", set={"profile.seen_at": later(0)}, expect={"profile.seen_at": given}
    )
    await store.commit(again)

    assert (await store.get(USERS, "a")).profile.seen_at == later(0)


@pytest.mark.parametrize(
    "text", ["", "Zoë", "李", "😀", "a\u2028b", '"\\/', "\x01\x1f\x7f", "\ufeff", "\U0010ffff"]
)
async def test_any_text_comes_back_as_it_was(store, text):
    await store.commit(Insert(ENTRIES, Entry(id="e", text=text)))

    assert (await store.get(ENTRIES, "e")).text == text


@pytest.mark.parametrize("n", [2**63 - 1, -(2**63), 2**53 + 1, 0])
async def test_integers_of_64_bits_come_back_exactly(store, n):
    await store.commit(Insert(USERS, user("a", n=n)))
    await store.commit(Update(USERS, "a", set={"note": "met"}, expect={"n": n}))

    assert (await store.get(USERS, "a")).n == n


async def test_a_record_of_a_megabyte_comes_back_whole(store):
    text = "ab" * 500_000
    await store.commit(Insert(ENTRIES, Entry(id="e", text=text)))

    assert (await store.get(ENTRIES, "e")).text == text


REFUSED = {
    "NUL": Insert(USERS, user("x", note="a\0b")),
    "a lone surrogate": Insert(USERS, user("x", note="\ud800")),
    "NUL in a list": Insert(USERS, user("x", tags=["\0"])),
    "an integer beyond 64 bits": Insert(USERS, user("x", n=2**63)),
    "a naive instant": Insert(USERS, user("x", created_at=datetime(2026, 1, 1))),
    "over 4 MiB": Insert(USERS, user("x", note="x" * MAX_RECORD_BYTES)),
    "text where a number belongs": Insert(USERS, user("x", n="1")),
    "None where text belongs": Insert(USERS, user("x", login_key=None)),
    "another record type": Insert(USERS, Entry(id="x")),
    "an empty id": Insert(USERS, user("")),
    "an id that is too long": Insert(USERS, user("x" * (MAX_ID_CHARACTERS + 1))),
    "an id with NUL": Delete(USERS, "a\0"),
    "an id with a lone surrogate": Delete(USERS, "\udfff"),
    "NUL set": Update(USERS, "ann", set={"note": "\0"}),
    "a lone surrogate expected": Update(USERS, "ann", expect={"note": "\ud800"}),
    "a naive instant expected": Update(USERS, "ann", expect={"created_at": datetime(2026, 1, 1)}),
    "text for a number set": Update(USERS, "ann", set={"n": "1"}),
    "a number for text set": Update(USERS, "ann", set={"note": 1}),
    "None set where it can't be": Update(USERS, "ann", set={"login_key": None}),
    "a bool for a number expected": Update(USERS, "ann", expect={"n": True}),
    "text for an instant expected": Update(USERS, "ann", expect={"created_at": "2026"}),
    "a list expected": Update(USERS, "ann", expect={"tags": ["a"]}),
    "an unknown field": Update(USERS, "ann", set={"surname": "x"}),
    "an unknown field expected": Update(USERS, "ann", expect={"profile.surname": None}),
    "a path across a list": Update(USERS, "ann", set={"tags.0": "x"}),
    "a path across a scalar": Update(USERS, "ann", expect={"note.x": "x"}),
    "the id set": Update(USERS, "ann", set={"id": "bob"}),
    "text incremented": Update(USERS, "ann", increment={"note": 1}),
    "increment by a bool": Update(USERS, "ann", increment={"n": True}),
    "increment beyond 64 bits": Update(USERS, "ann", increment={"n": 2**63}),
    "a field set and incremented": Update(USERS, "ann", set={"n": 1}, increment={"n": 1}),
    "a field and its parent set": Update(
        USERS, "ann", set={"profile": Profile("B"), "profile.nick": "b"}
    ),
}


@pytest.mark.full
@pytest.mark.parametrize("write", REFUSED.values(), ids=REFUSED.keys())
async def test_refused_before_anything_is_written(store, ann, write):
    with pytest.raises(InvalidValue):
        await store.commit(Insert(ENTRIES, Entry(id="e")), write)

    assert await store.get_many([(ENTRIES, "e"), (USERS, "ann"), (USERS, "x")]) == [
        None,
        ann,
        None,
    ]


async def test_what_is_changed_after_commit_was_called_is_stored_as_it_was(store):
    """So many that no writer can have looked at all of them by then."""
    await store.commit(Insert(USERS, user("old")))
    alone = [Entry(id=f"a{n}", text="as it was") for n in range(100)]
    in_units = [user(f"u{n}", tags=["as it was"]) for n in range(20)]
    units = [[Insert(ENTRIES, one)] for one in alone]
    units += [[Insert(USERS, one), Insert(ENTRIES, Entry(id=one.id))] for one in in_units]
    tags = ["as it was"]
    units.append([Update(USERS, "old", set={"tags": tags})])
    committing = [asyncio.ensure_future(store.commit(*unit)) for unit in units]
    await asyncio.sleep(0)
    for one in alone:
        one.text = "changed"
    for each in (tags, *(one.tags for one in in_units)):
        each.append("changed")
    await asyncio.gather(*committing)

    found = [each.text async for each in store.scan(ENTRIES) if each.id.startswith("a")]
    assert found == ["as it was"] * 100
    assert [each.tags async for each in store.scan(USERS)] == [["as it was"]] * 21


@pytest.mark.parametrize("id", ["\ud800", "a\0", "", "x" * 10_000, "$where", "a.b"])
async def test_an_id_that_no_record_has_is_not_found_whatever_it_is(store, id):
    assert await store.get(USERS, id) is None
    assert await store.get_many([(USERS, id), (ENTRIES, id)]) == [None, None]
