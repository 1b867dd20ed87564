"""Commands of every kind that fail in every way while many units share them."""

from __future__ import annotations

import asyncio
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from storage import Insert, Update
from tests.storage.fire import works
from tests.storage.mongo.mongo_stores import make, timed
from tests.storage.records import ALL, ENTRIES, USERS, Entry, user
from tests.support.servers.mongod import connected

WRITING = ("update", "insert", "commitTransaction", "findAndModify")
READING = ("aggregate", "find")
WEAK = {"code": 64, "codeName": "WriteConcernTimeout", "errmsg": "waiting timed out"}
LONGER_THAN_THE_DRIVER_WAITS = 3300
TWICE = 2  # the driver sends a commit so often by itself

CLOSED = {"closeConnection": True}
CODES = {
    "NotWritablePrimary": 10107,
    "InterruptedAtShutdown": 11600,
    "ShutdownInProgress": 91,
    "PrimarySteppedDown": 189,
}


@pytest.fixture
def account():
    return works.Account()


async def under(store, account, times, *commands, **fault):
    """All works while the next commands of these names fail; then what came of them."""
    run = "+".join(commands)
    await works.prepare(store, run)
    store.fail(*commands, times=times, **fault)
    outcomes, _ = await asyncio.gather(works.perform(store, run), works.read(store, run, account))
    failed = store.heal() - account.injected
    account.injected += failed
    assert failed >= times  # commands side by side may enter it once more
    while not store.has_ended():
        await asyncio.sleep(0.05)
    await works.judge(store, outcomes, account)


@pytest.mark.load
@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
async def test_whatever_connection_is_closed_nothing_is_lost_or_double(
    faulty, account, times, record_property
):
    for command in (*WRITING, *READING):
        await under(faulty, account, times, command, **CLOSED)
    record_property("counts", str(account))

    assert account.faults == []
    assert account.unknown == account.settled


@pytest.mark.load
@pytest.mark.parametrize("code", CODES)
async def test_while_the_primary_changes_nothing_is_lost_or_double(
    faulty, account, code, record_property
):
    await under(faulty, account, 8, *WRITING, errorCode=CODES[code])
    await under(faulty, account, 2, *READING, errorCode=CODES[code])
    record_property("counts", str(account))

    assert account.faults == []
    assert account.unknown == account.settled


@pytest.mark.load
async def test_what_a_majority_did_not_acknowledge_is_applied_once(
    faulty, account, record_property
):
    for command in WRITING:
        await under(faulty, account, 2, command, writeConcernError=WEAK)
    record_property("counts", str(account))

    assert account.faults == []


@pytest.mark.load
async def test_commands_that_hang_are_given_up_and_applied_once(faulty, account, record_property):
    """The server goes on with each, long after the driver has closed its connection."""
    hang = {"blockConnection": True, "blockTimeMS": LONGER_THAN_THE_DRIVER_WAITS}
    await under(faulty, account, 16, *WRITING, *READING, **hang)
    record_property("counts", str(account))

    assert account.faults == []


@pytest.mark.load
async def test_a_commit_that_is_cancelled_while_its_connection_is_closed_goes_on(faulty):
    await faulty.commit(Insert(USERS, user("a")))
    faulty.fail("update", times=2)
    waiting = asyncio.ensure_future(faulty.commit(Update(USERS, "a", increment={"n": 1})))
    await asyncio.sleep(0.02)
    waiting.cancel()
    await asyncio.wait([waiting])

    assert waiting.cancelled()
    while (await faulty.get(USERS, "a")).n == 0:
        await asyncio.sleep(0.01)
    assert (await faulty.get(USERS, "a")).n == 1


@pytest.mark.load
async def test_close_answers_what_is_queued_while_connections_are_closed(faulty, mongodb):
    ids = [f"u{n}" for n in range(300)]
    await faulty.commit_each([[Insert(USERS, user(id))] for id in ids])
    faulty.fail("update", times=4)
    writing = [
        asyncio.ensure_future(faulty.commit(Update(USERS, id, increment={"n": 1}))) for id in ids
    ]
    await asyncio.sleep(0)
    with timed(10):
        await faulty.close()
    again = make(mongodb)
    await again.open(ALL)
    found = [record.n async for record in again.scan(USERS)]
    await again.close()

    assert [each.result() for each in writing] == [None] * 300
    assert found == [1] * 300


@pytest.mark.load
async def test_a_record_that_everybody_writes_has_each_unit_once_though_answers_are_lost(
    lossy, record_property
):
    """More units than a record keeps marks of wait while one is sent again and again."""
    await lossy.commit(Insert(USERS, user("hot")))
    for _ in range(6):
        lossy.proxy.lost["update"] = 4
        outcomes = await asyncio.gather(
            *(lossy.commit(Update(USERS, "hot", increment={"n": 1})) for _ in range(40))
        )
        assert outcomes == [None] * 40
    found = (await lossy.get(USERS, "hot")).n
    record_property("counts", f"{lossy.proxy.swallowed} answers lost, {found} of 240 applied")

    assert found == 240


@pytest.fixture
def later_commits_fail(mongodb):
    """Called, the server answers two commits and refuses all that follow, as after an election."""
    with closing(connected(urlsplit(mongodb)._replace(path="/").geturl())) as client:

        def configure(mode, **data):
            client.admin.command("configureFailPoint", "failCommand", mode=mode, **data)

        label = ["TransientTransactionError"]
        fault = {"failCommands": ["commitTransaction"], "errorCode": 251, "errorLabels": label}
        yield lambda: configure({"skip": TWICE}, data=fault)
        configure("off")


async def test_a_unit_that_was_committed_does_not_meet_itself_when_its_commit_is_refused(
    lossy, later_commits_fail
):
    """Its answers were lost; what says that it must begin again comes afterwards."""
    await lossy.commit(Insert(USERS, user("a")))
    later_commits_fail()
    lossy.proxy.lost["commitTransaction"] = TWICE
    await lossy.commit(Update(USERS, "a", increment={"n": 1}), Insert(ENTRIES, Entry(id="e")))

    assert lossy.proxy.swallowed == TWICE
    assert (await lossy.get(USERS, "a")).n == 1
    assert await lossy.get(ENTRIES, "e") == Entry(id="e")
