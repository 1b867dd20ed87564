"""In an expiring collection the injected clock alone decides what exists."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from storage import Conflict, Delete, Insert, Stale, Update
from tests.storage.records import TICKETS, Ticket


@pytest.fixture
def ticket(io_loop, store, clock):
    ticket = Ticket(id="t", expires_at=clock.now() + timedelta(seconds=60))
    io_loop.run_sync(lambda: store.commit(Insert(TICKETS, ticket)))
    return ticket


async def test_a_record_exists_until_the_clock_reaches_its_end(store, clock, ticket):
    clock.advance(59.999)
    assert await store.get(TICKETS, "t") == ticket

    clock.advance(0.001)
    assert await store.get(TICKETS, "t") is None


async def test_no_read_meets_an_expired_record(store, clock, ticket):
    lasting = Ticket(id="u", expires_at=clock.now() + timedelta(seconds=90))
    await store.commit(Insert(TICKETS, lasting))
    clock.advance(60)

    assert await store.get_many([(TICKETS, "t"), (TICKETS, "u")]) == [None, lasting]
    found = await store.find(TICKETS, {"owner": "me"}, order="expires_at")
    assert found.records == [lasting]
    assert await store.count(TICKETS) == 1
    assert await store.count(TICKETS, {"owner": "me"}) == 1
    assert [record async for record in store.scan(TICKETS)] == [lasting]
    async with store.snapshot() as view:
        assert await view.get(TICKETS, "t") is None


@pytest.mark.parametrize(
    "write",
    [
        Update(TICKETS, "t", set={"state": "used"}),
        Update(TICKETS, "t", expect={"state": "new"}),
        Delete(TICKETS, "t", expect={"state": "new"}),
    ],
)
async def test_a_write_that_needs_an_expired_record_is_stale(store, clock, ticket, write):
    clock.advance(60)

    with pytest.raises(Stale):
        await store.commit(write)


async def test_an_insert_replaces_an_expired_record_whole(store, clock, ticket):
    await store.commit(Update(TICKETS, "t", set={"state": "used"}))
    clock.advance(60)
    fresh = Ticket(id="t", expires_at=clock.now() + timedelta(seconds=60))
    await store.commit(Insert(TICKETS, fresh))

    assert await store.get(TICKETS, "t") == fresh


async def test_an_insert_over_a_living_record_conflicts(store, clock, ticket):
    clock.advance(59.999)
    with pytest.raises(Conflict) as caught:
        await store.commit(Insert(TICKETS, Ticket(id="t", expires_at=clock.now())))

    assert caught.value.field == "id"
    assert await store.get(TICKETS, "t") == ticket


async def test_an_update_can_prolong_a_living_record(store, clock, ticket):
    longer = clock.now() + timedelta(seconds=120)
    await store.commit(Update(TICKETS, "t", set={"expires_at": longer}))
    clock.advance(100)

    assert (await store.get(TICKETS, "t")).expires_at == longer


async def test_an_update_can_end_a_record(store, clock, ticket):
    await store.commit(Update(TICKETS, "t", set={"expires_at": clock.now()}))

    assert await store.get(TICKETS, "t") is None


async def test_a_replaying_insert_has_one_winner_after_expiry(store, clock, ticket):
    clock.advance(60)
    fresh = Ticket(id="t", expires_at=clock.now() + timedelta(seconds=60))
    outcomes = await asyncio.gather(
        *(store.commit(Insert(TICKETS, fresh)) for _ in range(16)), return_exceptions=True
    )

    assert outcomes.count(None) == 1
    assert {type(o) for o in outcomes if o is not None} == {Conflict}
