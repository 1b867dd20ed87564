"""What is particular to MongoDB: the server it needs, shared commands, lost answers."""

from __future__ import annotations

import asyncio
import gc
import socket
import time
import uuid
from collections import Counter
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pymongo.monitoring
import pytest
from pymongo import AsyncMongoClient, MongoClient

from storage import (
    Conflict,
    Delete,
    Insert,
    InvalidValue,
    Stale,
    Unavailable,
    Unit,
    Unknown,
    Unsupported,
    Update,
)
from storage.mongo import MongoStore
from storage.mongo.driver import connect
from tests.storage.records import ALL, ENTRIES, TICKETS, USERS, Entry, Ticket, user
from tests.support.lossy_proxy import LossyProxy
from tests.support.mongod import fresh_database

MINUTE = timedelta(minutes=1)


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


def make(url, client=None, now=None):
    return MongoStore(
        url,
        now=now or (lambda: datetime.now(UTC)),
        new_id=lambda: uuid.uuid4().hex,
        client=client,
    )


def opened(io_loop, url, client=None):
    store = make(url, client)
    io_loop.run_sync(lambda: store.open(ALL))
    return store


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


# The drivers' own retries and reconnections take half a second each: the default is a sample.
DRIVERS = ["pymongo", pytest.param("motor", marks=pytest.mark.deep)]
ONCE_TWICE_OFTEN = [
    pytest.param(1, marks=pytest.mark.deep),
    2,
    pytest.param(5, marks=pytest.mark.deep),
]


@pytest.fixture(params=DRIVERS)
def faulty(request, io_loop, mongodb):
    """A store with its fault injector: `faulty.fail(command, times)` closes connections."""
    name = uuid.uuid4().hex
    url = mongodb + ("&" if "?" in mongodb else "?") + f"appName={name}&driver={request.param}"
    store = opened(io_loop, url)
    with closing(MongoClient(urlsplit(mongodb)._replace(path="/").geturl())) as admin:

        def fail(*commands, times=1, **fault):
            data = {"failCommands": commands, "appName": name}
            admin.admin.command(
                "configureFailPoint",
                "failCommand",
                mode={"times": times},
                data=data | (fault or {"closeConnection": True}),
            )

        store.fail = fail
        yield store
        admin.admin.command("configureFailPoint", "failCommand", mode="off")
    io_loop.run_sync(store.close)


@contextmanager
def timed(limit):
    began = time.monotonic()
    yield
    assert time.monotonic() - began < limit


# The server


@pytest.mark.parametrize("query", ["", "?driver=motor", "?replicaSet=rs0"])
async def test_a_standalone_is_refused_with_the_command_that_cures_it(standalone, query):
    with pytest.raises(Unsupported) as caught:
        await make(f"{standalone}{query}").open(ALL)

    message = str(caught.value)
    assert "mongod --replSet rs0" in message
    assert 'rs.initiate()"' in message
    assert urlsplit(standalone).netloc in message


async def test_a_member_of_a_set_that_was_never_initiated_is_told_apart(uninitiated):
    with pytest.raises(Unsupported) as caught:
        await make(uninitiated).open(ALL)

    assert "rs.initiate()" in str(caught.value)
    assert "--replSet" not in str(caught.value)


# PyMongo's monitor, ended while it connects, leaves its socket to the garbage collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket", "ignore:unclosed <socket")
@pytest.mark.parametrize("driver", ["pymongo", "motor"])
async def test_an_unreachable_server_is_unavailable_in_less_than_three_seconds(driver):
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"mongodb://127.0.0.1:{taken.getsockname()[1]}/idp?driver={driver}"
        with timed(3), pytest.raises(Unavailable):
            await make(url).open(ALL)
    await asyncio.sleep(0)
    gc.collect()


@pytest.mark.parametrize(
    "url", ["mongodb://h/?driver=pymongo3", "mongodb://u:pass@word@h/", "mongodb://h:port/"]
)
async def test_a_url_that_no_driver_reads_is_refused_without_quoting_it(url):
    with pytest.raises(InvalidValue) as caught:
        await make(url).open(ALL)

    assert "word" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_the_database_is_named_by_the_path_and_idp_by_default(mongodb):
    assert connect("mongodb://h").database.name == "idp"
    store = make(mongodb)
    await store.open(ALL)
    with closing(MongoClient(mongodb)) as client:
        names = set(client.get_default_database().list_collection_names())
    await store.close()

    assert {"users", "tickets", "entries", "meta", "counters"} <= names


async def test_motor_is_used_when_the_url_says_so(mongodb):
    store = make(mongodb + ("&" if "?" in mongodb else "?") + "driver=motor")
    await store.open(ALL)

    assert "AsyncIOMotor" in repr(store._open.driver.client)
    await store.commit(Insert(USERS, user("a")))
    assert await store.get(USERS, "a") == user("a")
    await store.close()


async def test_writes_are_durable_whatever_the_url_says(mongodb):
    store = make(mongodb + ("&" if "?" in mongodb else "?") + "w=1&journal=false")
    await store.open(ALL)
    concern = store._open.driver.collection("users").write_concern

    assert concern.document == {"w": "majority", "j": True}
    await store.close()


async def test_sweeping_waits_a_day_longer_than_expiry(store, mongodb):
    with closing(MongoClient(mongodb)) as client:
        indexes = client.get_default_database()["tickets"].index_information()

    assert indexes["expires_at_1"]["expireAfterSeconds"] == 24 * 3600


# Shared commands


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
    assert commands.sent["insert"] <= 4


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
        [Insert(USERS, user(f"u{n}")), Insert(ENTRIES, Entry(id=f"e{n}"))] for n in range(200)
    ]
    assert await watched.commit_each(units) == [None] * 200
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


# Lost answers

WRITES = {
    "insert": Insert(USERS, user("new")),
    "insert that replaces": Insert(
        TICKETS, Ticket(id="t", expires_at=datetime.now(UTC) + timedelta(hours=1))
    ),
    "update": Update(USERS, "old", increment={"n": 1}, expect={"note": None}),
    "delete": Delete(USERS, "old"),
    "conditional delete": Delete(USERS, "old", expect={"n": 0}),
}
COMMAND = {"insert that replaces": "update", "conditional delete": "delete"}


@pytest.mark.parametrize("times", ONCE_TWICE_OFTEN)
@pytest.mark.parametrize("kind", WRITES)
async def test_a_write_survives_closed_connections(faulty, kind, times):
    await faulty.commit(Insert(USERS, user("old")))
    faulty.fail(COMMAND.get(kind, kind), times=times)
    await faulty.commit(WRITES[kind])

    assert (await faulty.get(USERS, "new") is not None) == (kind == "insert")
    assert (await faulty.get(TICKETS, "t") is not None) == (kind == "insert that replaces")
    old = await faulty.get(USERS, "old")
    assert (old is None) == (COMMAND.get(kind, kind) == "delete")
    assert old is None or old.n == (kind == "update")


@pytest.mark.parametrize("times", ONCE_TWICE_OFTEN)
async def test_shared_updates_survive_closed_connections(faulty, times):
    await faulty.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(30)])
    faulty.fail("update", times=times)
    outcomes = await asyncio.gather(
        *(
            faulty.commit(Update(USERS, f"u{n}", increment={"n": 1}, expect={"n": n % 2}))
            for n in range(30)
        ),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [type(None), Stale] * 15
    assert [r.n async for r in faulty.scan(USERS)] == [
        1 - int(id[1:]) % 2 for id in sorted(f"u{n}" for n in range(30))
    ]


@pytest.mark.parametrize("times", ONCE_TWICE_OFTEN)
@pytest.mark.parametrize("command", ["insert", "update", "commitTransaction"])
async def test_a_transaction_survives_closed_connections(faulty, command, times):
    await faulty.commit(Insert(USERS, user("a")))
    faulty.fail(command, times=times)
    await faulty.commit(
        Update(USERS, "a", increment={"n": 1}, expect={"n": 0}), Insert(ENTRIES, Entry(id="e"))
    )

    assert (await faulty.get(USERS, "a")).n == 1
    assert await faulty.get(ENTRIES, "e") == Entry(id="e")


@pytest.mark.parametrize("times", ONCE_TWICE_OFTEN)
async def test_reads_and_counters_survive_closed_connections(faulty, times):
    await faulty.commit(Insert(USERS, user("a")))
    faulty.fail("find", "aggregate", times=times)
    assert await faulty.get_many([(USERS, "a"), (ENTRIES, "e")]) == [user("a"), None]
    faulty.fail("findAndModify", times=times)
    await faulty.increment("k", window=MINUTE)
    faulty.fail("findAndModify", times=times)

    assert (await faulty.increment("k", window=MINUTE)).n == 2


async def test_a_write_that_a_majority_did_not_acknowledge_is_sent_again(faulty):
    """The command is done, but its answer says that it may be rolled back."""
    await faulty.commit(Insert(USERS, user("a")))
    weak = {"code": 64, "codeName": "WriteConcernTimeout", "errmsg": "waiting timed out"}
    faulty.fail("update", times=2, writeConcernError=weak)
    await faulty.commit(Update(USERS, "a", increment={"n": 1}))

    assert (await faulty.get(USERS, "a")).n == 1


async def test_a_refusal_of_the_server_is_unavailable_at_once(faulty):
    await faulty.commit(Insert(USERS, user("a")))
    faulty.fail("update", errorCode=13)
    with timed(1), pytest.raises(Unavailable):
        await faulty.commit(Update(USERS, "a", increment={"n": 1}))

    assert (await faulty.get(USERS, "a")).n == 0


@pytest.fixture(params=DRIVERS)
def lossy(request, io_loop, mongodb):
    """A store behind a proxy that loses answers: `lossy.proxy.lost[command] = how many`."""
    parts = urlsplit(mongodb)
    proxy = LossyProxy(parts.hostname, parts.port)
    running = proxy.running()
    io_loop.run_sync(running.__aenter__)
    query = f"directConnection=true&driver={request.param}"
    address = f"127.0.0.1:{proxy.port}"
    store = opened(io_loop, parts._replace(netloc=address, query=query).geturl())
    store.proxy = proxy
    yield store
    io_loop.run_sync(store.close)
    io_loop.run_sync(lambda: running.__aexit__(None, None, None))


@pytest.mark.parametrize("times", ONCE_TWICE_OFTEN)
@pytest.mark.parametrize("kind", ["insert", "insert that replaces", "update", "delete"])
async def test_a_write_whose_answers_are_lost_is_applied_once(lossy, kind, times):
    await lossy.commit(Insert(USERS, user("old")))
    lossy.proxy.lost[COMMAND.get(kind, kind)] = times
    await lossy.commit(WRITES[kind])

    assert lossy.proxy.swallowed == times
    old = await lossy.get(USERS, "old")
    assert old is None or old.n == (kind == "update")


@pytest.mark.parametrize("times", ONCE_TWICE_OFTEN)
async def test_a_refused_write_whose_answers_are_lost_stays_refused(lossy, times):
    await lossy.commit(Insert(USERS, user("old")))
    lossy.proxy.lost.update(insert=times, update=times)
    with pytest.raises(Conflict):
        await lossy.commit(Insert(USERS, user("other", login_key="old@example.com")))
    with pytest.raises(Stale):
        await lossy.commit(Update(USERS, "old", set={"n": 5}, expect={"n": 1}))

    assert lossy.proxy.swallowed == 2 * times
    assert await lossy.get(USERS, "old") == user("old")


@pytest.mark.parametrize("times", ONCE_TWICE_OFTEN)
async def test_a_unit_whose_commit_answers_are_lost_is_applied_once(lossy, times):
    await lossy.commit(Insert(USERS, user("a")))
    lossy.proxy.lost["commitTransaction"] = times
    await lossy.commit(
        Update(USERS, "a", increment={"n": 1}, expect={"n": 0}), Insert(ENTRIES, Entry(id="e"))
    )

    assert lossy.proxy.swallowed == times
    assert (await lossy.get(USERS, "a")).n == 1


@pytest.mark.parametrize("times", ONCE_TWICE_OFTEN)
async def test_an_increment_whose_answers_are_lost_counts_once(lossy, times):
    for n in (1, 2):
        lossy.proxy.lost["findAndModify"] = times
        assert (await lossy.increment("k", window=MINUTE)).n == n


async def test_a_conditional_delete_whose_answers_are_lost_may_stay_unknown(lossy):
    await lossy.commit(Insert(USERS, user("a")))
    lossy.proxy.lost["delete"] = 2
    with pytest.raises(Unknown) as caught:
        await lossy.commit(Delete(USERS, "a", expect={"n": 0}))

    assert await lossy.applied(caught.value.unit) is None


@pytest.mark.gen_test(timeout=20)
async def test_answers_lost_for_longer_than_eight_seconds_are_unknown(lossy):
    await lossy.commit(Insert(USERS, user("a")))
    lossy.proxy.lost.update(update=10_000, commitTransaction=10_000)
    update = Update(USERS, "a", increment={"n": 1})
    with timed(11):
        outcomes = await asyncio.gather(
            lossy.commit(update),
            lossy.commit(Insert(USERS, user("b")), Insert(ENTRIES, Entry(id="e"))),
            return_exceptions=True,
        )
    lossy.proxy.lost.clear()

    assert [type(outcome) for outcome in outcomes] == [Unknown, Unknown]
    for outcome in outcomes:
        assert await lossy.applied(outcome.unit) is True
    assert await lossy.applied(Unit("never", (update,))) is False
    assert (await lossy.get(USERS, "a")).n == 1


@pytest.mark.deep
@pytest.mark.gen_test(timeout=300)
async def test_of_many_lost_answers_none_is_wrong_and_none_double(lossy):
    """Every third round loses answers of every kind while units are shared and repeated."""
    await lossy.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(10)])
    expected = Counter()
    for turn in range(60):
        lossy.proxy.lost.update({"update": turn % 3, "commitTransaction": turn % 4})
        outcomes = await asyncio.gather(
            *(lossy.commit(Update(USERS, f"u{n}", increment={"n": 1})) for n in range(10)),
            lossy.commit(
                Update(USERS, f"u{turn % 10}", increment={"n": 1}),
                Insert(ENTRIES, Entry(id=f"e{turn}")),
            ),
        )
        assert outcomes == [None] * 11
        expected.update([*range(10), turn % 10])

    found = [record async for record in lossy.scan(USERS)]
    assert {int(record.id[1:]): record.n for record in found} == expected
    assert lossy.proxy.swallowed > 60


# Failovers


@pytest.fixture
def trio(mongod_trio):
    mongod_trio.mend()
    return mongod_trio


class Writers:
    """Eight callers that each count up a record of their own, every other one in transactions."""

    def __init__(self, store):
        self.store = store
        self.done = Counter()
        self.unknown = Counter()
        self.gaps = []

    async def write(self, n, ends):
        succeeded_at = time.monotonic()
        while time.monotonic() < ends:
            writes = [Update(USERS, f"u{n}", increment={"n": 1})]
            if n % 2:
                writes.append(Insert(ENTRIES, Entry(id=uuid.uuid4().hex)))
            try:
                await self.store.commit(*writes)
            except Unknown:
                self.unknown[n] += 1
            except Unavailable:
                await asyncio.sleep(0.1)
            else:
                self.done[n] += 1
                self.gaps.append(time.monotonic() - succeeded_at)
                succeeded_at = time.monotonic()


@pytest.mark.deep
@pytest.mark.gen_test(timeout=120)
@pytest.mark.parametrize("driver", ["pymongo", "motor"])
@pytest.mark.parametrize("fault", ["kill", "pause", "stop"])
async def test_no_acknowledged_write_is_lost_when_the_primary_goes(trio, fault, driver):
    with fresh_database(trio.url) as url:
        store = make(f"{url}&driver={driver}")
        await store.open(ALL)
        await store.commit_each([[Insert(USERS, user(f"u{n}"))] for n in range(8)])
        writers = Writers(store)
        ends = time.monotonic() + 12
        writing = asyncio.gather(*(writers.write(n, ends) for n in range(8)))
        await asyncio.sleep(2)
        primary = await asyncio.to_thread(trio.primary)
        await asyncio.to_thread(getattr(primary, fault))
        await writing
        found = {int(record.id[1:]): record.n async for record in store.scan(USERS)}
        await store.close()
        primary.resume()

    for n in range(8):
        assert writers.done[n] <= found[n] <= writers.done[n] + writers.unknown[n]
    assert max(writers.gaps) < 10
