"""Records read with those that their fields name: in one round trip, on every back end."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from storage import Collection, Follow, Insert, Record, Undeclared, Update
from tests.storage.records import ENTRIES, TICKETS, USERS, Entry, Profile, Ticket, user

NOTE = Follow(USERS, "note", ENTRIES)
TAGS = Follow(USERS, "tags", ENTRIES)
NICK = Follow(USERS, "profile.nick", TICKETS)
MINUTE = timedelta(minutes=1)


async def fill(store, *pairs):
    outcomes = await store.commit_each([[Insert(*pair)] for pair in pairs])
    assert set(outcomes) == {None}


async def test_a_record_is_read_with_those_that_its_fields_name(store, clock):
    ada = user("ada", note="e1", tags=["e2", "e3"], profile=Profile(name="Ada", nick="t"))
    ticket = Ticket(id="t", expires_at=clock.now() + MINUTE)
    await fill(
        store, (USERS, ada), (TICKETS, ticket), *((ENTRIES, Entry(id=f"e{n}")) for n in (1, 2))
    )

    assert await store.get_following([(USERS, "ada")], [NOTE, TAGS, NICK]) == {
        ("users", "ada"): ada,
        ("entries", "e1"): Entry(id="e1"),
        ("entries", "e2"): Entry(id="e2"),
        ("entries", "e3"): None,
        ("tickets", "t"): ticket,
    }


async def test_what_is_absent_names_nothing_and_is_none(store):
    await fill(store, (USERS, user("ada")), (ENTRIES, Entry(id="e")))

    assert await store.get_following([(USERS, "ada"), (USERS, "bob")], [NOTE, TAGS, NICK]) == {
        ("users", "ada"): user("ada"),
        ("users", "bob"): None,
    }
    assert await store.get_following([], [NOTE]) == {}


async def test_a_record_may_be_named_by_several_and_be_asked_for_itself(store):
    people = [user(id, note="e", tags=["e"]) for id in ("ada", "bob")]
    await fill(store, *((USERS, each) for each in people), (ENTRIES, Entry(id="e")))
    keys = [(ENTRIES, "e"), (USERS, "ada"), (TICKETS, "t"), (USERS, "bob")]

    assert await store.get_following(keys, [NOTE, TAGS]) == {
        ("entries", "e"): Entry(id="e"),
        ("users", "ada"): people[0],
        ("tickets", "t"): None,
        ("users", "bob"): people[1],
    }


async def test_what_has_expired_is_absent_and_names_nothing(store, clock):
    tickets_of = Follow(TICKETS, "owner", USERS)
    ticket = Ticket(id="t", expires_at=clock.now() + MINUTE, owner="ada")
    ada = user("ada", profile=Profile(name="Ada", nick="t"))
    await fill(store, (TICKETS, ticket), (USERS, ada))
    clock.advance(61)

    assert await store.get_following([(TICKETS, "t")], [tickets_of]) == {("tickets", "t"): None}
    assert await store.get_following([(USERS, "ada")], [NICK]) == {
        ("users", "ada"): ada,
        ("tickets", "t"): None,
    }


async def test_a_collection_that_was_not_opened_is_refused(store):
    others = Collection("others", Record)
    await fill(store, (USERS, user("ada", note="e")))

    with pytest.raises(Undeclared):
        await store.get_following([(USERS, "ada")], [Follow(USERS, "note", others)])


async def test_an_id_that_can_be_no_id_names_nothing(store):
    await fill(store, (USERS, user("ada", note="", tags=["x" * 300])))
    found = await store.get_following([(USERS, "ada"), (USERS, "\ud800")], [NOTE, TAGS])

    assert [record for record in found.values() if record] == [
        user("ada", note="", tags=["x" * 300])
    ]


async def test_it_is_one_round_trip(store, backend):
    ada = user("ada", note="e1", tags=["e2", "e3"])
    await fill(store, (USERS, ada), *((ENTRIES, Entry(id=f"e{n}")) for n in (1, 2, 3)))
    with backend.counted(store) as trips:
        await store.get_following([(USERS, "ada"), (TICKETS, "t")], [NOTE, TAGS])

        assert trips() == backend.commands_to_follow


async def test_it_shows_what_was_written_before(store):
    await fill(store, (USERS, user("ada", note="e")), (ENTRIES, Entry(id="e")))

    async def noise():
        while True:
            await store.get_following([(USERS, "ada")], [NOTE])
            await asyncio.sleep(0)

    reader = asyncio.ensure_future(noise())
    for n in range(30):
        await store.commit(Update(ENTRIES, "e", set={"text": str(n)}))
        found = await store.get_following([(USERS, "ada")], [NOTE])
        assert found["entries", "e"].text == str(n)
    reader.cancel()


async def test_callers_that_follow_differently_each_get_theirs(store):
    ada = user("ada", note="e1", tags=["e2"])
    await fill(store, (USERS, ada), *((ENTRIES, Entry(id=f"e{n}")) for n in (1, 2)))
    by_note, by_tags, alone, page = await asyncio.gather(
        store.get_following([(USERS, "ada")], [NOTE]),
        store.get_following([(USERS, "ada")], [TAGS]),
        store.get(USERS, "ada"),
        store.find(USERS, {"org_id": "org"}, order="login_key", limit=5),
    )

    assert by_note == {("users", "ada"): ada, ("entries", "e1"): Entry(id="e1")}
    assert by_tags == {("users", "ada"): ada, ("entries", "e2"): Entry(id="e2")}
    assert (alone, page.records) == (ada, [ada])
