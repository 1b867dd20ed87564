"""MongoDB: what no majority of the members has is not answered as done, taken or stale."""

from __future__ import annotations

from contextlib import closing, contextmanager

import pytest
from pymongo.write_concern import WriteConcern

from storage import Conflict, Delete, Insert, Stale, Unavailable, Unknown, Update, deadline
from storage.deadline import Deadline
from tests.storage.mongo.mongo_stores import make
from tests.storage.records import ALL, ENTRIES, USERS, Entry, user
from tests.support.servers.mongod import fresh_database

SHORT = 1.5  # seconds


@pytest.fixture
def trio(mongod_trio):
    mongod_trio.mend()
    return mongod_trio


@pytest.fixture
def stores(io_loop, trio):
    """Two processes' stores on the same database."""
    with fresh_database(trio.url) as url:
        made = [make(url), make(url)]
        for store in made:
            io_loop.run_sync(lambda store=store: store.open(ALL))
        yield made
        trio.mend()
        for store in made:
            io_loop.run_sync(store.close)


@contextmanager
def cut_off(trio):
    """Nothing reaches the secondaries, while the primary keeps its role. Yields the primary."""
    primary = trio.primary()
    others = [member for member in trio.members if member is not primary]
    for member in others:
        copying(member, "alwaysOn")
    try:
        yield primary
    finally:
        for member in others:
            copying(member, "off")


def copying(member, mode):
    with closing(member.client()) as client:
        client.admin.command("configureFailPoint", "stopReplProducer", mode=mode)


async def outcome(store, *writes):
    """The error of a commit that is waited for shortly; None if there is none."""
    deadline.begin(Deadline(SHORT))
    try:
        await store.commit(*writes)
    except (Conflict, Stale, Unavailable, Unknown) as error:
        return type(error)
    finally:
        deadline.end()
    return None


# Each is refused by what the other process has written.
REFUSED = {
    "insert": [Insert(USERS, user("b", login_key="ann"))],
    "inserts": [Insert(USERS, user("b", login_key="ann")), Insert(ENTRIES, Entry(id="n"))],
    "update": [Update(USERS, "z", set={"n": 2}, expect={"n": 0})],
    "updates": [
        Update(USERS, "z", set={"n": 2}, expect={"n": 0}),
        Insert(ENTRIES, Entry(id="n")),
    ],
    "delete": [Delete(USERS, "z", expect={"n": 0})],
}


@pytest.mark.parametrize("writes", REFUSED.values(), ids=REFUSED)
async def test_no_refusal_rests_on_a_write_that_no_majority_has(trio, stores, writes):
    first, second = stores
    await first.commit(Insert(USERS, user("z")))
    with cut_off(trio):
        assert await outcome(first, Insert(USERS, user("a", login_key="ann"))) is Unknown
        assert await outcome(first, Update(USERS, "z", set={"n": 1})) is Unknown
        refused = await outcome(second, *writes)

    assert refused in (Unknown, Unavailable)


async def test_a_confirmed_read_waits_for_a_majority(trio, stores):
    first, second = stores
    with cut_off(trio):
        assert await outcome(first, Insert(USERS, user("a", login_key="ann"))) is Unknown
        assert (await second.get(USERS, "a")).id == "a"
        deadline.begin(Deadline(SHORT))
        with pytest.raises(Unavailable):
            await second.get_confirmed(USERS, "a")
        deadline.end()

    assert (await second.get_confirmed(USERS, "a")).id == "a"
    assert await second.get_confirmed(USERS, "b") is None


async def test_a_record_that_was_rolled_back_refuses_nothing(trio, stores):
    _, store = stores
    with cut_off(trio) as primary:
        with closing(primary.client()) as client:
            database = client[store._open.driver.database.name]
            users = database.get_collection("users", write_concern=WriteConcern(1))
            users.insert_one({"_id": "a", "login_key": "ann"})
        assert (await store.get(USERS, "a")).id == "a"
        primary.kill()
    assert await store.get_confirmed(USERS, "a") is None

    await store.commit(Insert(USERS, user("b", login_key="ann")), Insert(ENTRIES, Entry(id="n")))
    trio.mend()
    assert await store.get_confirmed(USERS, "a") is None
    assert (await store.get_confirmed(USERS, "b")).id == "b"


async def test_reads_are_confirmed_by_a_majority_under_the_same_primary(trio, stores):
    first, second = stores
    point = second.read_point()
    await second.confirm(point)
    with cut_off(trio):
        assert await outcome(first, Insert(USERS, user("a", login_key="ann"))) is Unknown
        deadline.begin(Deadline(SHORT))
        with pytest.raises(Unavailable):
            await second.confirm(point)
        deadline.end()
    await second.confirm(point)

    trio.primary().kill()
    with pytest.raises(Unavailable):
        await second.confirm(point)
    await second.confirm(second.read_point())
