"""MongoDB: how few commands are sent, and that each caller has its own outcome."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import closing

import pymongo.monitoring
import pytest
from pymongo import AsyncMongoClient, MongoClient

from storage import Conflict, Delete, Insert, Stale, Update
from tests.storage.mongo.mongo_stores import opened
from tests.storage.records import ENTRIES, TICKETS, USERS, Entry, user


class Commands(pymongo.monitoring.CommandListener):
    """Every command of one client, by name."""

    def __init__(self):
        self.sent = Counter()
        self.statements = Counter()

    def started(self, event):
        self.sent[event.command_name] += 1
        for batched in ("updates", "documents", "deletes"):
            self.statements[event.command_name] += len(event.command.get(batched, ()))

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


@pytest.fixture
def store(io_loop, mongodb):
    store = opened(io_loop, mongodb)
    yield store
    io_loop.run_sync(store.close)


@pytest.fixture
def commands():
    return Commands()


@pytest.fixture
def watched(io_loop, mongodb, commands):
    """A store whose commands are counted from the moment that it is open."""
    client = AsyncMongoClient(mongodb, event_listeners=[commands])
    store = opened(io_loop, mongodb, client)
    commands.sent.clear()
    commands.statements.clear()
    yield store
    io_loop.run_sync(store.close)
    io_loop.run_sync(client.close)


async def test_get_many_is_one_command(watched, commands):
    await watched.commit(Insert(USERS, user("a")), Insert(ENTRIES, Entry(id="a")))
    commands.sent.clear()
    found = await watched.get_many([(USERS, "a"), (ENTRIES, "a"), (TICKETS, "t"), (USERS, "b")])

    assert found == [user("a"), Entry(id="a"), None, None]
    assert commands.sent == {"aggregate": 1}


async def test_concurrent_reads_share_commands(watched, commands):
    await asyncio.gather(*(watched.commit(Insert(USERS, user(f"u{n}"))) for n in range(100)))
    commands.sent.clear()
    found = await asyncio.gather(
        *(watched.get(USERS, f"u{n % 100}") for n in range(300)),
        *(watched.get_many([(ENTRIES, "a"), (USERS, f"u{n}")]) for n in range(100)),
    )

    assert found[:300] == [user(f"u{n % 100}") for n in range(300)]
    assert found[300:] == [[None, user(f"u{n}")] for n in range(100)]
    assert commands.sent.total() <= 3


async def test_small_queries_share_the_command_of_reads_by_id(watched, commands):
    await watched.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(70)])
    commands.sent.clear()
    by_id, page, many, each, few = await asyncio.gather(
        watched.get(USERS, "u1"),
        watched.find(USERS, {"org_id": "org"}, order="login_key", limit=2),
        watched.find(USERS, {"org_id": "org"}, order="login_key", limit=100),
        watched.find_each(USERS, "login_key", ["u3@example.com", "nobody"], 1),
        watched.find_each(USERS, "org_id", ["org", "other"], 2),
    )

    assert (by_id, [one.id for one in page.records]) == (user("u1"), ["u0", "u10"])
    assert page.after is not None
    assert len(many.records) == 70
    assert each == {"u3@example.com": [user("u3")]}
    assert [one.id for one in few["org"]] == ["u0", "u1"]
    # The long page is a command of its own; so is the look-up of the values that were not among
    # the first records, where one value has many.
    assert commands.sent == {"aggregate": 2, "find": 1}


async def test_a_small_query_alone_is_a_find(watched, commands):
    await watched.commit(Insert(USERS, user("a")))
    commands.sent.clear()

    assert (await watched.find(USERS, {"login_key": user("a").login_key})).records == [user("a")]
    assert commands.sent == {"find": 1}


async def test_a_read_is_never_older_than_its_question(store):
    """Reads that ask while others are in flight see what was written before they asked."""
    await store.commit(Insert(USERS, user("a")))

    async def noise():
        while True:
            await store.get_many([(USERS, "a"), (ENTRIES, "a")])

    readers = [asyncio.ensure_future(noise()) for _ in range(8)]
    for n in range(1, 100):
        await store.commit(Update(USERS, "a", set={"n": n}))
        assert (await store.get(USERS, "a")).n == n
    for reader in readers:
        reader.cancel()


async def test_concurrent_updates_share_commands_and_keep_their_own_outcomes(watched, commands):
    await watched.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(64)])
    commands.sent.clear()
    commands.statements.clear()
    outcomes = await asyncio.gather(
        *(
            watched.commit(Update(USERS, f"u{n}", set={"n": 1}, expect={"n": n % 2}))
            for n in range(64)
        ),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [type(None), Stale] * 32
    assert commands.statements["update"] == 64
    assert commands.sent["update"] <= 3
    assert commands.sent["find"] <= 3


async def test_concurrent_inserts_share_commands_and_keep_their_own_outcomes(watched, commands):
    outcomes = await asyncio.gather(
        *(watched.commit(Insert(USERS, user(f"u{n % 32}"))) for n in range(64)),
        return_exceptions=True,
    )

    assert outcomes.count(None) == 32
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 32
    assert commands.sent["insert"] <= 6


async def test_a_batch_never_holds_two_units_for_one_record(watched, commands):
    await watched.commit(Insert(USERS, user("a")))
    await asyncio.gather(
        *(watched.commit(Update(USERS, "a", increment={"n": 1})) for _ in range(20))
    )

    assert (await watched.get(USERS, "a")).n == 20
    assert commands.sent["update"] == commands.statements["update"] == 20


async def test_conditional_deletes_keep_their_own_outcomes(store):
    await store.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(20)])
    outcomes = await asyncio.gather(
        *(store.commit(Delete(USERS, f"u{n}", expect={"n": n % 2})) for n in range(20)),
        *(store.commit(Delete(USERS, "never")) for _ in range(5)),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes[:20]] == [type(None), Stale] * 10
    assert outcomes[20:] == [None] * 5
    assert await store.count(USERS) == 10


async def test_importing_what_is_there_begins_few_transactions(watched, commands):
    units = [
        [Insert(USERS, user(f"u{n}")), Insert(ENTRIES, Entry(id=f"e{n}"))] for n in range(600)
    ]
    assert await watched.commit_each(units) == [None] * 600
    assert commands.sent["commitTransaction"] == 2
    commands.sent.clear()
    again = await watched.commit_each(units)

    assert {(type(outcome), outcome.field) for outcome in again} == {(Conflict, "id")}
    assert commands.sent["abortTransaction"] <= 4


@pytest.mark.parametrize("descending", [False, True])
async def test_a_page_reads_little_more_than_it_shows(store, mongodb, descending):
    """Ten thousand ties in the order, and the cursor in their midst."""
    await store.commit_each([[Insert(USERS, user(f"u{n:05}"))] for n in range(10_000)])
    after = (user("x").created_at, "u05000")
    with closing(MongoClient(mongodb)) as client:
        database = client.get_default_database()
        database.command("profile", 2, filter={"op": "query", "ns": f"{database.name}.users"})
        page = await store.find(
            USERS, {"org_id": "org"}, order="created_at", descending=descending, after=after
        )
        database.command("profile", 0)
        (entry,) = database["system.profile"].find({"op": "query"})

    assert page.records[0].id == ("u04999" if descending else "u05001")
    assert entry["docsExamined"] <= 110
    assert entry["keysExamined"] <= 110


async def test_close_waits_for_a_read_whose_asker_has_gone(store):
    asking = asyncio.ensure_future(store.get(USERS, "somebody"))
    while not (
        running := [task for task in asyncio.all_tasks() if "SharedReads._run_batch" in repr(task)]
    ):
        await asyncio.sleep(0)
    asking.cancel()
    await store.close()

    assert all(task.done() for task in running)


async def test_similar_updates_of_one_unit_are_one_statement(watched, commands, mongodb):
    await watched.commit(*(Insert(USERS, user(f"u{i}")) for i in range(200)))
    for n in range(10):
        commands.statements.clear()
        await watched.commit(*(Update(USERS, f"u{i}", set={"n": n + i}) for i in range(200)))
        assert commands.statements["update"] == 1

    with closing(MongoClient(mongodb)) as client:
        found = list(client.get_default_database()["users"].find())
    assert {len(each["_units"]) for each in found} == {8}
    assert len({tuple(each["_units"]) for each in found}) == 1
    assert [each["n"] for each in sorted(found, key=lambda each: int(each["_id"][1:]))] == list(
        range(9, 209)
    )


async def test_a_few_similar_updates_are_statements_of_their_own(watched, commands):
    await watched.commit(*(Insert(USERS, user(f"u{i}")) for i in range(7)))
    commands.statements.clear()
    await watched.commit(*(Update(USERS, f"u{i}", set={"n": i}) for i in range(7)))

    assert commands.statements["update"] == 7
