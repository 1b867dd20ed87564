"""After a lost answer: whether a unit was applied is told by its marks."""

from __future__ import annotations

from contextlib import suppress

import pytest

from storage import Conflict, Delete, Insert, Stale, Unit, Update
from tests.storage.records import ENTRIES, USERS, Entry, user


@pytest.fixture
def attempt(store, backend):
    """Commit, and give the units that it may have been: one for each id that was made."""

    async def attempt(*writes):
        before = len(backend.ids)
        with suppress(Conflict, Stale):  # the question is what `applied` says of it
            await store.commit(*writes)
        return [Unit(id, writes) for id in backend.ids[before:]]

    return attempt


async def was_applied(store, units):
    answers = [await store.applied(unit) for unit in units]
    assert answers
    return any(answers)


@pytest.mark.parametrize(
    "writes",
    [
        [Insert(USERS, user("new"))],
        [Update(USERS, "ann", set={"n": 1})],
        [Update(USERS, "ann", expect={"n": 0})],
        [Insert(USERS, user("new")), Update(USERS, "ann", set={"n": 1})],
        [Delete(ENTRIES, "e"), Update(USERS, "ann", set={"n": 1})],
    ],
)
async def test_an_applied_unit_is_found_by_its_mark(store, attempt, writes):
    await store.commit(Insert(USERS, user("ann")), Insert(ENTRIES, Entry(id="e")))

    assert await was_applied(store, await attempt(*writes))


@pytest.mark.parametrize(
    "writes",
    [
        [Insert(USERS, user("ann"))],
        [Update(USERS, "ann", set={"n": 1}, expect={"n": 5})],
        [Insert(USERS, user("new")), Update(USERS, "ann", expect={"n": 5})],
        [Update(USERS, "gone", set={"n": 1})],
    ],
)
async def test_a_refused_unit_is_not(store, attempt, writes):
    await store.commit(Insert(USERS, user("ann")))

    assert not await was_applied(store, await attempt(*writes))


async def test_a_unit_that_was_never_sent_is_not(store):
    await store.commit(Insert(USERS, user("ann")))

    assert await store.applied(Unit("never", (Update(USERS, "ann", set={"n": 1}),))) is False


async def test_of_deletes_alone_nothing_is_left_to_ask(store):
    await store.commit(Insert(USERS, user("ann")))
    writes = (Delete(USERS, "ann"), Delete(ENTRIES, "e"))
    await store.commit(*writes)

    assert await store.applied(Unit("any", writes)) is None


async def test_a_mark_outlives_the_next_seven_units(store, attempt):
    await store.commit(Insert(USERS, user("ann")))
    units = await attempt(Update(USERS, "ann", increment={"n": 1}))
    for _ in range(7):
        await store.commit(Update(USERS, "ann", increment={"n": 1}))
    assert await was_applied(store, units)

    await store.commit(Update(USERS, "ann", expect={"n": 8}))
    assert not await was_applied(store, units)


async def test_a_mark_is_no_field_of_the_record(store):
    await store.commit(Insert(USERS, user("ann")))
    await store.commit(Update(USERS, "ann", set={"n": 1}))

    assert await store.get(USERS, "ann") == user("ann", n=1)
