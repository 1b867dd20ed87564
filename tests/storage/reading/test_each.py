"""Finding by many values at once: few records of each, in one round trip."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta

import pytest
from pymongo import MongoClient

from storage import Delete, Insert, InvalidValue, Undeclared, Update
from storage.base import MAX_VALUES
from tests.storage.mongo.mongo_stores import opened
from tests.storage.records import ENTRIES, TICKETS, USERS, Entry, Ticket, later, user


@pytest.fixture
def people(io_loop, store):
    """Three users of one organization, one of another, and four of a third."""
    orgs = {"one": 3, "two": 1, "three": 4}
    people = [
        user(f"{org}-{n}", org_id=org, created_at=later(-n))
        for org in orgs
        for n in range(orgs[org])
    ]
    io_loop.run_sync(lambda: store.commit_each([[Insert(USERS, each)] for each in people]))
    return {person.id: person for person in people}


def ids(found):
    return {value: [record.id for record in records] for value, records in found.items()}


async def test_many_ids_are_found_and_unknown_ones_are_absent(store, people):
    found = await store.find_each(USERS, "id", ["one-0", "nobody", "two-0", ""])

    assert found == {"one-0": [people["one-0"]], "two-0": [people["two-0"]]}


async def test_many_values_of_a_unique_key_are_found(store, people):
    wanted = [f"{id}@example.com" for id in ("three-3", "x", "one-1")]

    assert ids(await store.find_each(USERS, "login_key", wanted)) == {
        "three-3@example.com": ["three-3"],
        "one-1@example.com": ["one-1"],
    }


@pytest.mark.parametrize("most", [1, 2, 3, 50])
async def test_of_a_lists_first_field_each_value_has_its_first_records(store, people, most):
    found = await store.find_each(USERS, "org_id", ["three", "none", "one", "two"], most)

    assert ids(found) == {
        "one": ["one-2", "one-1", "one-0"][:most],
        "two": ["two-0"],
        "three": ["three-3", "three-2", "three-1", "three-0"][:most],
    }


async def test_ties_in_a_list_are_in_the_order_of_ids(store):
    for id in "cab":
        await store.commit(Insert(USERS, user(id)))

    assert ids(await store.find_each(USERS, "org_id", ["org"])) == {"org": ["a", "b"]}


async def test_one_value_with_very_many_records_hides_no_other(store):
    units = [
        [Insert(USERS, user(f"u{n:03}", org_id="many", created_at=later(n)))] for n in range(90)
    ]
    units += [[Insert(USERS, user(f"v{n}", org_id=f"small-{n}"))] for n in range(9)]
    units += [[Insert(USERS, user("a", org_id="early"))]]
    assert set(await store.commit_each(units)) == {None}
    wanted = ["many", "none", "early", *(f"small-{n}" for n in range(9))]

    assert ids(await store.find_each(USERS, "org_id", wanted)) == {
        "many": ["u000", "u001"],
        "early": ["a"],
        **{f"small-{n}": [f"v{n}"] for n in range(9)},
    }


async def test_expired_records_are_not_there_and_take_nobodys_place(store, clock):
    for n in range(40):
        ends = clock.now() - timedelta(seconds=1) if n < 30 else later(10**9 + n)
        await store.commit(Insert(TICKETS, Ticket(id=f"t{n:02}", expires_at=ends)))

    assert ids(await store.find_each(TICKETS, "owner", ["me", "you"])) == {"me": ["t30", "t31"]}
    assert ids(await store.find_each(TICKETS, "id", ["t29", "t30"])) == {"t30": ["t30"]}


async def test_a_value_that_is_asked_for_twice_is_found_once(store, people):
    found = await store.find_each(USERS, "id", ["one-0", "one-0"])

    assert found == {"one-0": [people["one-0"]]}


async def test_what_was_written_is_found_at_once(store, people):
    await store.commit(Update(USERS, "two-0", set={"org_id": "one"}), Delete(USERS, "one-0"))

    found = await store.find_each(USERS, "org_id", ["one", "two"], 9)
    assert {value: sorted(each) for value, each in ids(found).items()} == {
        "one": ["one-1", "one-2", "two-0"]
    }


async def test_what_no_record_can_have_is_nobodys(store, people):
    wanted = ["\ud800", "a\0b", "x" * 500, "one-0"]

    assert ids(await store.find_each(USERS, "id", wanted)) == {"one-0": ["one-0"]}
    assert ids(await store.find_each(USERS, "login_key", wanted)) == {}
    assert await store.find_each(USERS, "id", ["\ud800"]) == {}


async def test_nothing_asked_is_nothing_found(store, people):
    assert await store.find_each(USERS, "id", []) == {}


async def test_a_thousand_values_are_found_by_few_commands(store, backend):
    units = [[Insert(USERS, user(f"u{n}"))] for n in range(MAX_VALUES)]
    assert set(await store.commit_each(units)) == {None}
    wanted = [f"u{n}@example.com" for n in range(500, 500 + MAX_VALUES)]
    with backend.counted(store) as trips:
        found = await store.find_each(USERS, "login_key", wanted)

        assert trips() == backend.commands_for(MAX_VALUES)
    assert list(map(len, found.values())) == [1] * 500


@pytest.mark.parametrize(
    ("field", "values", "most"),
    [
        ("id", ["a"] * (MAX_VALUES + 1), 1),
        ("id", ["a"], 0),
        ("id", [1], 1),
        ("login_key", [True], 1),
    ],
)
async def test_too_many_values_and_those_of_another_type_are_refused(store, field, values, most):
    with pytest.raises(InvalidValue):
        await store.find_each(USERS, field, values, most)


@pytest.mark.parametrize("field", ["note", "created_at", "n", "surname"])
async def test_what_begins_no_declared_list_is_refused(store, field):
    with pytest.raises(Undeclared):
        await store.find_each(USERS, field, [])
    with pytest.raises(Undeclared):
        await store.find_each(ENTRIES, field, [])


async def test_a_snapshot_finds_what_was_there(store, people):
    async with store.snapshot() as view:
        await store.commit(Delete(USERS, "two-0"), Insert(ENTRIES, Entry(id="e")))

        assert ids(await view.find_each(USERS, "org_id", ["two"])) == {"two": ["two-0"]}
        assert ids(await view.find_each(USERS, "org_id", ["three", "two"], 1)) == {
            "three": ["three-3"],
            "two": ["two-0"],
        }
        assert await view.find_each(ENTRIES, "id", ["e"]) == {}


@pytest.fixture
def mongo_store(io_loop, mongodb):
    store = opened(io_loop, mongodb)
    yield store
    io_loop.run_sync(store.close)


async def test_a_server_looks_at_few_of_the_records_that_one_value_has(mongo_store, mongodb):
    units = [[Insert(USERS, user(f"u{n:04}", org_id="many"))] for n in range(5000)]
    units += [[Insert(USERS, user(f"v{n}", org_id=f"small-{n}"))] for n in range(9)]
    assert set(await mongo_store.commit_each(units)) == {None}
    with closing(MongoClient(mongodb)) as client:
        database = client.get_default_database()
        database.command("profile", 2, filter={"ns": f"{database.name}.users"})
        found = await mongo_store.find_each(
            USERS, "org_id", ["many", "small-0", "small-8", "none"]
        )
        database.command("profile", 0)
        looks = list(database["system.profile"].find({"op": {"$in": ["query", "command"]}}))

    assert ids(found) == {"many": ["u0000", "u0001"], "small-0": ["v0"], "small-8": ["v8"]}
    assert len(looks) == 2
    assert sum(look["docsExamined"] for look in looks) < 40
