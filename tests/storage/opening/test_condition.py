"""The state of a store other than its records: what is missing in it, and what its server is."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest
from pymongo import MongoClient

from storage.mongo import opening
from tests.storage.mongo.mongo_stores import make
from tests.storage.records import ALL, USERS

HELLO = {"maxWireVersion": 17, "localTime": None}


async def test_a_store_that_was_opened_lacks_nothing(store):
    assert await store.missing_indexes(ALL) == []


async def test_what_is_missing_is_named_without_making_it(sqlite):
    with closing(sqlite3.connect(sqlite._path)) as connection:
        connection.execute('DROP INDEX "users:login_key"')
        connection.execute("DROP TABLE tickets")

    missing = await sqlite.missing_indexes(ALL)

    assert "users:login_key" in missing
    assert "tickets" in missing
    assert await sqlite.missing_indexes(ALL) == missing


@pytest.mark.parametrize("driver", ["pymongo", "motor"])
async def test_a_server_names_what_is_missing(mongodb, driver):
    url = mongodb + ("&" if "?" in mongodb else "?") + f"driver={driver}"
    store = make(url)
    await store.open([])
    assert "users" in await store.missing_indexes([USERS])
    await store.close()

    store = make(url)
    await store.open([USERS])
    with closing(MongoClient(mongodb)) as client:
        client.get_default_database()["users"].drop_index("login_key_1")
    missing = await store.missing_indexes([USERS])
    await store.close()

    assert missing == ["users.login_key_1"]


@pytest.mark.parametrize("driver", ["pymongo", "motor"])
async def test_a_server_is_described_and_keeps_nothing_of_an_aborted_unit(mongodb, driver):
    store = make(mongodb + ("&" if "?" in mongodb else "?") + f"driver={driver}")
    await store.open([])
    state = await store.server_state()
    version = await store.engine_version()
    assert await store.rolls_back()
    with closing(MongoClient(mongodb)) as client:
        names = client.get_default_database().list_collection_names()
    await store.close()

    assert state.version >= (5, 0, 0)
    assert version.startswith(".".join(map(str, state.version)))
    assert (state.members, state.reachable) == (1, 1)
    assert state.transaction_seconds == 5
    assert state.history_seconds == 300
    assert state.unconfirmed_seconds < 10
    assert not store.is_sharded
    assert sorted(names) == ["counters", "meta"]


async def test_a_file_has_sizes_and_no_server(sqlite):
    state = await sqlite.file_state()

    assert state.log_bytes == os.path.getsize(f"{sqlite._path}-wal")
    assert state.file_bytes > state.free_bytes == 0
    assert await sqlite.server_state() is None
    assert await sqlite.engine_version() == sqlite3.sqlite_version
    assert await sqlite.find_damage(5) == []


class Server:
    """What opening asks of a driver, with the answer of a server to `hello`."""

    has_sessions = True
    address = hosts = "mongos:27017"

    def __init__(self, hello):
        self.hello = HELLO | hello

    async def connect(self):
        pass


@pytest.mark.parametrize(
    ("hello", "is_sharded"), [({"msg": "isdbgrid"}, True), ({"setName": "rs0"}, False)]
)
async def test_a_router_is_recognised_and_not_refused(hello, is_sharded):
    server = Server(hello)

    await opening.check_server(server)

    assert opening.is_sharded(server.hello) is is_sharded
