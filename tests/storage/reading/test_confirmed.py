"""Reads that no loss of a server can take back, on every back end."""

from __future__ import annotations

from datetime import timedelta

from storage import Insert
from tests.storage.records import TICKETS, USERS, Ticket, user


async def test_a_confirmed_read_returns_what_is_stored(store):
    await store.commit(Insert(USERS, user("a")))

    assert (await store.get_confirmed(USERS, "a")).login_key == "a@example.com"
    assert await store.get_confirmed(USERS, "b") is None


async def test_a_confirmed_read_treats_an_expired_record_as_absent(store, clock):
    ticket = Ticket(id="t", expires_at=clock.now() + timedelta(minutes=1))
    await store.commit(Insert(TICKETS, ticket))
    assert (await store.get_confirmed(TICKETS, "t")).id == "t"
    clock.advance(61)

    assert await store.get_confirmed(TICKETS, "t") is None


async def test_what_was_read_since_a_point_is_confirmed(store):
    point = store.read_point()
    await store.commit(Insert(USERS, user("a")))
    read = await store.get(USERS, "a")
    await store.confirm(point)

    assert await store.get_confirmed(USERS, "a") == read
