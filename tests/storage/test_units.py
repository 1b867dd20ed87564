"""A unit is applied whole or not at all, and the reason is told."""

from __future__ import annotations

import pytest

from storage import Conflict, Delete, Insert, InvalidValue, Stale, Update
from tests.storage.records import (
    ENTRIES,
    OLDER_USERS,
    START,
    USERS,
    Entry,
    Profile,
    later,
    user,
)


@pytest.fixture
def ann(io_loop, store):
    ann = user("ann", profile=Profile("Ann"), tags=["a", "b"])
    io_loop.run_sync(lambda: store.commit(Insert(USERS, ann)))
    return ann


async def test_an_inserted_record_is_read_at_once_and_equal(store, ann):
    assert await store.get(USERS, "ann") == ann


async def test_a_record_that_was_never_written_is_not_found(store):
    assert await store.get(USERS, "nobody") is None


async def test_an_insert_of_a_taken_id_conflicts_by_id_and_changes_nothing(store, ann):
    with pytest.raises(Conflict) as caught:
        await store.commit(Insert(USERS, user("ann", login_key="other", n=5)))

    assert (caught.value.collection, caught.value.field) == ("users", "id")
    assert await store.get(USERS, "ann") == ann


async def test_an_insert_of_a_taken_unique_key_names_the_field(store, ann):
    with pytest.raises(Conflict) as caught:
        await store.commit(Insert(USERS, user("other", login_key=ann.login_key)))

    assert (caught.value.collection, caught.value.field) == ("users", "login_key")
    assert await store.get(USERS, "other") is None


async def test_an_update_to_a_taken_unique_key_conflicts_and_changes_nothing(store, ann):
    await store.commit(Insert(USERS, user("bob")))
    with pytest.raises(Conflict) as caught:
        await store.commit(Update(USERS, "bob", set={"login_key": ann.login_key, "n": 7}))

    assert caught.value.field == "login_key"
    assert await store.get(USERS, "bob") == user("bob")


async def test_a_unique_key_is_free_again_after_a_change_or_a_delete(store, ann):
    await store.commit(Update(USERS, "ann", set={"login_key": "new"}))
    await store.commit(Insert(USERS, user("bob", login_key=ann.login_key)))
    await store.commit(Delete(USERS, "bob"))
    await store.commit(Insert(USERS, user("eve", login_key=ann.login_key)))

    assert (await store.get(USERS, "eve")).login_key == ann.login_key


async def test_several_collections_change_in_one_unit(store, ann):
    await store.commit(
        Update(USERS, "ann", set={"note": "n"}),
        Insert(ENTRIES, Entry(id="e", text="changed")),
        Insert(USERS, user("bob")),
    )

    found = await store.get_many([(USERS, "ann"), (ENTRIES, "e"), (USERS, "bob")])
    assert [found[0].note, found[1].text, found[2].id] == ["n", "changed", "bob"]


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (Insert(USERS, user("ann")), Conflict),
        (Insert(USERS, user("x", login_key="ann@example.com")), Conflict),
        (Update(USERS, "gone", set={"n": 1}), Stale),
        (Update(USERS, "ann", set={"n": 1}, expect={"n": 5}), Stale),
        (Update(USERS, "ann", expect={"n": 5}), Stale),
        (Delete(USERS, "ann", expect={"n": 5}), Stale),
    ],
)
async def test_a_refused_write_undoes_the_writes_before_it(store, ann, last, error):
    await store.commit(Insert(ENTRIES, Entry(id="old")), Insert(ENTRIES, Entry(id="kept")))
    with pytest.raises(error):
        await store.commit(
            Insert(ENTRIES, Entry(id="new")),
            Update(ENTRIES, "old", set={"text": "changed"}),
            Delete(ENTRIES, "kept"),
            last,
        )

    found = await store.get_many([(ENTRIES, "new"), (ENTRIES, "old"), (ENTRIES, "kept")])
    assert found == [None, Entry(id="old"), Entry(id="kept")]
    assert await store.get(USERS, "ann") == ann


async def test_an_update_of_a_missing_record_is_stale_and_names_it(store):
    with pytest.raises(Stale) as caught:
        await store.commit(Update(USERS, "gone", set={"n": 1}))

    assert (caught.value.collection, caught.value.id) == ("users", "gone")
    assert await store.get(USERS, "gone") is None


async def test_an_update_sets_increments_and_leaves_the_rest(store, ann):
    await store.commit(
        Update(USERS, "ann", set={"note": "x", "profile.nick": "A"}, increment={"n": 3})
    )
    await store.commit(Update(USERS, "ann", increment={"n": -1}))

    assert await store.get(USERS, "ann") == user(
        "ann", profile=Profile("Ann", "A"), tags=["a", "b"], note="x", n=2
    )


def similar_updates(n=20, **expect):
    """Of users u0 … with values that a database could take for its own expressions."""
    notes = ["$family", "$$ROOT", "$", "", "ü\n", "{'$set': 1}"]
    return [
        Update(
            USERS,
            f"u{i}",
            set={"note": notes[i % len(notes)], "n": -i, "is_active": bool(i % 2)}
            | {"created_at": later(i)},
            expect=expect,
        )
        for i in range(n)
    ]


async def users_with_profiles(store, n=20):
    await store.commit(*(Insert(USERS, user(f"u{i}", profile=Profile("P"))) for i in range(n)))


async def test_each_of_many_similar_updates_sets_its_own_values(store):
    await users_with_profiles(store)
    updates = similar_updates(is_active=True)
    odd = Update(USERS, "u19", set={"tags": ["x"]}, expect={"n": 0})
    await store.commit(*updates[:19], odd)

    for update in updates[:19]:
        changed = user(update.id, profile=Profile("P"), **update.set)
        assert await store.get(USERS, update.id) == changed
    assert await store.get(USERS, "u19") == user("u19", profile=Profile("P"), tags=["x"])


@pytest.mark.parametrize("gone", ["u0", "u7", "u19"])
async def test_one_that_is_stale_among_many_similar_updates_undoes_all(store, gone):
    await users_with_profiles(store)
    await store.commit(Update(USERS, gone, set={"is_active": False}))
    with pytest.raises(Stale) as caught:
        await store.commit(*similar_updates(is_active=True))

    assert caught.value.id == gone
    assert {(await store.get(USERS, f"u{i}")).n for i in range(20)} == {0}


async def test_unique_keys_of_many_records_are_set_in_their_order(store):
    await users_with_profiles(store)
    moved = [Update(USERS, f"u{i}", set={"login_key": f"u{i - 1}"}) for i in range(20)]
    await store.commit(*moved)
    again = [Update(USERS, f"u{i}", set={"login_key": f"u{i - 2}"}) for i in range(20)]
    await store.commit(*again)

    assert [(await store.get(USERS, f"u{i}")).login_key for i in range(3)] == ["u-2", "u-1", "u0"]


async def test_an_update_replaces_lists_and_objects_whole(store, ann):
    await store.commit(Update(USERS, "ann", set={"tags": ["c"], "profile": Profile("B", "b")}))

    got = await store.get(USERS, "ann")
    assert (got.tags, got.profile) == (["c"], Profile("B", "b"))


@pytest.mark.parametrize(
    "expect",
    [
        {"login_key": "ann@example.com"},
        {"n": 0},
        {"is_active": True},
        {"created_at": START},
        {"note": None},
        {"profile.name": "Ann"},
        {"profile.nick": None, "profile.seen_at": None},
    ],
)
async def test_an_expectation_that_holds_lets_the_update_through(store, ann, expect):
    await store.commit(Update(USERS, "ann", set={"note": "done"}, expect=expect))

    assert (await store.get(USERS, "ann")).note == "done"


@pytest.mark.parametrize(
    "expect",
    [
        {"login_key": "ANN@example.com"},
        {"n": 1},
        {"is_active": False},
        {"created_at": later(0.001)},
        {"note": ""},
        {"profile": None},
        {"profile.name": "ann"},
        {"profile.nick": "x"},
        {"n": 0, "is_active": False},
    ],
)
@pytest.mark.parametrize("write", [Update, Delete])
async def test_an_expectation_that_fails_is_stale_and_changes_nothing(store, ann, write, expect):
    changes = {"set": {"note": "done"}} if write is Update else {}
    with pytest.raises(Stale):
        await store.commit(write(USERS, "ann", expect=expect, **changes))

    assert await store.get(USERS, "ann") == ann


@pytest.mark.parametrize(
    "update",
    [
        Update(USERS, "bare", expect={"profile.nick": None}),
        Update(USERS, "bare", set={"profile.nick": "x"}),
        Update(USERS, "bare", set={"profile.nick": None}),
    ],
)
async def test_a_path_below_no_stored_object_is_stale(store, update):
    await store.commit(Insert(USERS, user("bare")))
    with pytest.raises(Stale):
        await store.commit(update)

    assert await store.get(USERS, "bare") == user("bare")


async def test_none_absent_and_null_are_the_same(store, ann):
    await store.commit(Update(USERS, "ann", set={"note": "x", "profile.nick": "A"}))
    await store.commit(Update(USERS, "ann", set={"note": None, "profile.nick": None}))
    await store.commit(
        Update(USERS, "ann", set={"n": 1}, expect={"note": None, "profile.nick": None})
    )

    assert (await store.get(USERS, "ann")).n == 1


async def test_a_guard_holds_changes_nothing_and_fails_when_it_should(store, ann):
    await store.commit(Update(USERS, "ann", expect={"n": 0}))
    assert await store.get(USERS, "ann") == ann

    with pytest.raises(Stale):
        await store.commit(Update(USERS, "ann", expect={"n": 1}))


async def test_deleting_what_is_gone_is_no_error_unless_something_is_expected(store, ann):
    await store.commit(Delete(USERS, "ann"))
    await store.commit(Delete(USERS, "ann"))

    assert await store.get(USERS, "ann") is None
    with pytest.raises(Stale):
        await store.commit(Delete(USERS, "ann", expect={"n": 0}))


async def test_a_delete_whose_expectation_holds_removes_the_record(store, ann):
    await store.commit(Delete(USERS, "ann", expect={"n": 0}))

    assert await store.get(USERS, "ann") is None


async def test_an_id_may_be_used_again_after_a_delete(store, ann):
    await store.commit(Delete(USERS, "ann"))
    await store.commit(Insert(USERS, user("ann", n=9)))

    assert (await store.get(USERS, "ann")).n == 9


async def test_fields_that_an_older_program_does_not_know_survive_its_update(store, ann):
    await store.commit(Update(USERS, "ann", set={"note": "x", "profile.nick": "A"}))
    await store.commit(Update(OLDER_USERS, "ann", set={"profile.name": "B"}, increment={"n": 1}))

    assert await store.get(USERS, "ann") == user(
        "ann", profile=Profile("B", "A"), tags=["a", "b"], note="x", n=1
    )


async def test_two_writes_for_one_record_are_refused_before_anything_is_written(store, ann):
    with pytest.raises(InvalidValue):
        await store.commit(
            Insert(ENTRIES, Entry(id="e")),
            Update(USERS, "ann", set={"n": 1}),
            Update(USERS, "ann", set={"n": 2}),
        )

    assert await store.get_many([(ENTRIES, "e"), (USERS, "ann")]) == [None, ann]


async def test_an_empty_unit_is_refused(store):
    with pytest.raises(InvalidValue):
        await store.commit()


async def test_the_same_id_in_two_collections_is_two_records(store, ann):
    await store.commit(Insert(ENTRIES, Entry(id="ann", text="other")))

    assert await store.get(USERS, "ann") == ann
