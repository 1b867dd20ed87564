"""A store is filled from elsewhere: seen by nobody before it is whole, and whole or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest

from storage import (
    COUNTERS,
    FIRST_SCHEMA,
    META,
    SCHEMA_ID,
    HalfFilled,
    Insert,
    MetaRecord,
    StorageError,
    Store,
    upgrades,
)
from storage import filling as filling_module
from storage.filling import (
    CollectionDigests,
    StoreContent,
    StoreNotEmpty,
    all_records,
    encode,
    fill,
)
from tests.storage.opening.upgrade_steps import NAMES, NEW, UPGRADED
from tests.storage.records import ALL, ENTRIES, TICKETS, USERS, Entry, Ticket, later, user
from tests.support import patience

COLLECTIONS = (*ALL, COUNTERS)
SCHEMA = MetaRecord(id=SCHEMA_ID, version=1, oldest_reader=1, done=["before"])


@pytest.fixture(autouse=True)
def short_batches(monkeypatch):
    monkeypatch.setattr(filling_module, "MAX_UNITS", 500)


@pytest.fixture
def empty(io_loop, backend, clock) -> Iterator[Store]:
    """A store that was opened without a schema."""
    store = backend.make(clock)
    io_loop.run_sync(lambda: store.open(ALL, None))
    yield store
    io_loop.run_sync(store.close, timeout=patience.SECONDS)


async def given(records):
    for each in records:
        yield each


def some(clock, n=3):
    end = clock.now() + timedelta(hours=1)
    users = [(USERS, user(f"u{i:04}", created_at=later(i))) for i in range(n)]
    tickets = [(TICKETS, Ticket(id=f"t{i:04}", expires_at=end)) for i in range(n)]
    return [*users, *tickets, (ENTRIES, Entry(id="ä", text="ö"))]


def filling(clock, records, holder="me", **changes):
    moment = clock.now()
    made = StoreContent(
        collections=COLLECTIONS,
        schema=SCHEMA,
        records=given(records) if isinstance(records, list) else records,
        moment=moment,
        now=clock.now,
        holder=holder,
    )
    return msgspec.structs.replace(made, **changes)


async def nothing_more():
    pass


async def stored(store):
    return [each async for each in all_records(store, COLLECTIONS)]


async def schema_of(store):
    return await store.get(META, SCHEMA_ID)


async def cut_off(store, clock, records, holder="me"):
    """A filling whose process was killed: nobody has freed its lease."""
    claim = {"holder": holder, "held_until": clock.now() + upgrades.LEASE}
    record = msgspec.structs.replace(SCHEMA, filled_since=clock.now(), **claim)
    await store.commit(Insert(META, record))
    for collection, each in records:
        await store.commit(Insert(collection, each))


async def test_what_is_filled_in_is_there_and_nothing_else(empty, clock):
    told = []

    await fill(empty, filling(clock, some(clock), on_progress=told.append), nothing_more)

    assert await stored(empty) == some(clock)
    assert await schema_of(empty) == SCHEMA
    assert sum(told) == len(some(clock))


async def test_a_filling_of_many_batches_is_whole(empty, clock):
    records = some(clock, 700)

    await fill(empty, filling(clock, records), nothing_more)

    assert await stored(empty) == records


async def test_what_has_expired_is_left_out(empty, clock):
    over = (TICKETS, Ticket(id="over", expires_at=clock.now()))

    await fill(empty, filling(clock, [over, *some(clock)]), nothing_more)

    assert await stored(empty) == some(clock)


async def test_a_filling_that_fails_leaves_a_mark_and_the_next_one_begins_again(empty, clock):
    async def failing():
        for each in some(clock, 600):
            yield each
        raise ValueError("the file is damaged")

    with pytest.raises(ValueError, match="damaged"):
        await fill(empty, filling(clock, failing()), nothing_more)

    left = await schema_of(empty)
    assert left.filled_since == clock.now()
    assert left.holder is None
    assert await stored(empty) != []
    with pytest.raises(HalfFilled, match="idp restore"):
        upgrades.opening(left, FIRST_SCHEMA)

    await fill(empty, filling(clock, some(clock), holder="next"), nothing_more)

    assert await stored(empty) == some(clock)
    assert (await schema_of(empty)).filled_since is None


async def test_the_last_act_fails_the_filling_too(empty, clock):
    async def fails():
        raise ValueError("no master key")

    with pytest.raises(ValueError, match="no master key"):
        await fill(empty, filling(clock, some(clock)), fails)

    assert (await schema_of(empty)).filled_since is not None


async def test_where_a_filling_was_killed_the_next_one_waits_for_its_lease_and_empties(
    empty, clock
):
    await cut_off(empty, clock, [(USERS, user("stray", login_key="u1@example.com"))])

    with pytest.raises(HalfFilled, match="at this moment"):
        await fill(empty, filling(clock, some(clock), holder="next"), nothing_more)
    clock.advance(upgrades.LEASE + timedelta(seconds=1))
    await fill(empty, filling(clock, some(clock), holder="next"), nothing_more)

    assert await stored(empty) == some(clock)


async def test_of_two_fillings_at_once_one_fills(empty, clock):
    results = await asyncio.gather(
        *(
            fill(empty, filling(clock, some(clock), holder=f"m{n}"), nothing_more)
            for n in range(4)
        ),
        return_exceptions=True,
    )

    assert results.count(None) == 1
    assert all(result is None or isinstance(result, StorageError) for result in results)
    assert await stored(empty) == some(clock)


@pytest.mark.parametrize("record", [(USERS, user("one")), (ENTRIES, Entry(id="one"))])
async def test_a_store_that_has_anything_is_refused_and_left_alone(empty, clock, record):
    collection, kept = record
    await empty.commit(Insert(collection, kept))

    with pytest.raises(StoreNotEmpty, match=f"it has {collection.name}"):
        await fill(empty, filling(clock, some(clock)), nothing_more)

    assert await stored(empty) == [record]
    assert await schema_of(empty) is None


async def test_a_store_that_a_service_has_opened_is_refused(store, clock):
    before = await schema_of(store)

    with pytest.raises(StoreNotEmpty, match="a service has opened it"):
        await fill(store, filling(clock, some(clock)), nothing_more)

    assert await stored(store) == []
    assert await schema_of(store) == before


async def test_who_lost_the_lease_does_not_release_the_store(empty, clock):
    async def meanwhile():
        taken = {"holder": "other", "held_until": clock.now() + upgrades.LEASE}
        await upgrades.write_if_held(empty, "me", taken)

    with pytest.raises(HalfFilled, match="another process"):
        await fill(empty, filling(clock, some(clock)), meanwhile)

    left = await schema_of(empty)
    assert left.holder == "other"
    assert left.filled_since is not None


async def test_what_is_read_back_otherwise_is_no_filling(empty, clock):
    async def with_a_stranger():
        for each in some(clock, 600):
            yield each
        await empty.commit(Insert(ENTRIES, Entry(id="of somebody else")))

    with pytest.raises(StorageError, match="does not give back"):
        await fill(empty, filling(clock, with_a_stranger()), nothing_more)

    assert (await schema_of(empty)).filled_since is not None


async def test_nobody_opens_a_store_that_is_half_filled(shared, clock, io_loop):
    store = shared.make(clock)
    await store.open(ALL, None)
    await cut_off(store, clock, some(clock))
    before = await stored(store)
    other = shared.make(clock)

    with pytest.raises(HalfFilled):
        await other.open(ALL)
    with pytest.raises(HalfFilled):
        await shared.make(clock).open(ALL, NEW)

    assert await stored(store) == before
    await store.close()


async def test_an_older_filling_is_upgraded_when_it_is_opened(shared, clock):
    store = shared.make(clock)
    await store.open(ALL, None)
    older = msgspec.structs.replace(SCHEMA, done=[])
    records = [(USERS, user(f"u{n}")) for n in range(3)]
    await fill(store, filling(clock, records, schema=older), nothing_more)
    await store.close()

    again = shared.make(clock)
    await again.open(ALL, NEW)

    found = [one async for one in again.scan(USERS)], [one async for one in again.scan(ENTRIES)]
    assert found == UPGRADED
    assert (await schema_of(again)).done == NAMES
    await again.close()


def test_tallies_distinguish_any_two_sets_of_records():
    def told(*records):
        digests = CollectionDigests()
        for each in records:
            digests.add(ENTRIES, encode(each))
        return digests.by_collection()

    one, two = Entry(id="1", text="a"), Entry(id="2", text="a")
    assert told(one) == told(Entry(id="1", text="a"))
    assert len({str(told(*each)) for each in ([], [one], [two], [one, two], [two, one])}) == 5
