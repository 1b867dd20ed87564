"""MongoDB: the server that a store needs, and how it is told where it is."""

from __future__ import annotations

import asyncio
import gc
import importlib
import socket
from contextlib import closing
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from pymongo import MongoClient

from storage import Insert, InvalidValue, Unavailable, Unsupported
from storage.mongo.driver import connect
from tests.storage.mongo.mongo_stores import make, timed
from tests.storage.records import (
    ALL,
    INDEXED,
    OLDER_VISITS,
    START,
    USERS,
    VISITS,
    Ticket,
    user,
)


@pytest.mark.parametrize("query", ["", "?driver=motor", "?replicaSet=rs0"])
async def test_a_standalone_is_refused_with_the_command_that_cures_it(standalone, query):
    with pytest.raises(Unsupported) as caught:
        await make(f"{standalone}{query}").open(ALL)

    message = str(caught.value)
    assert "mongod --replSet rs0" in message
    assert 'rs.initiate()"' in message
    assert urlsplit(standalone).netloc in message


async def test_a_member_of_a_set_that_was_never_initiated_is_recognised(uninitiated):
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
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        importlib.import_module("motor.motor_asyncio" if driver == "motor" else "pymongo")
        with timed(3), pytest.raises(Unavailable) as caught:
            await make(f"mongodb://user:word@{host}/idp?driver={driver}").open(ALL)
    reason = "(ServerSelectionTimeoutError)"
    assert str(caught.value) == f"MongoDB gives no answer at {host} {reason}"
    assert "Topology" in str(caught.value.__cause__)
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


async def test_sweeping_waits_a_day_longer_than_expiry(mongodb):
    store = make(mongodb)
    await store.open(ALL)
    with closing(MongoClient(mongodb)) as client:
        indexes = client.get_default_database()["tickets"].index_information()
    await store.close()

    assert indexes["expires_at_1"]["expireAfterSeconds"] == 24 * 3600


def ttl_indexes(mongodb, collection):
    """The indexes by which the server removes what has expired, with their seconds."""
    with closing(MongoClient(mongodb)) as client:
        indexes = client.get_default_database()[collection].index_information()
    found = {name: index.get("expireAfterSeconds") for name, index in indexes.items()}
    return {name: seconds for name, seconds in found.items() if seconds is not None}


@pytest.mark.promise("security: sweep")
async def test_what_strangers_can_store_is_removed_ten_minutes_after_its_end(mongodb):
    store = make(mongodb)
    await store.open([VISITS])
    await store.close()

    assert ttl_indexes(mongodb, "visits") == {"expires_at_-1": 600}


@pytest.mark.promise("security: sweep")
async def test_a_store_of_the_release_before_is_swept_soon_while_that_one_still_runs(mongodb):
    """The older release finds nothing in its way, also when it is started once more."""
    older, newer, again = make(mongodb), make(mongodb), make(mongodb)
    await older.open([OLDER_VISITS])
    assert ttl_indexes(mongodb, "visits") == {"expires_at_1": 86400}

    await newer.open([VISITS])
    assert ttl_indexes(mongodb, "visits") == {"expires_at_-1": 600}
    visit = Ticket(id="v", expires_at=START + timedelta(days=400))
    await older.commit(Insert(OLDER_VISITS, visit))
    assert await newer.get(VISITS, "v") == visit

    await again.open([OLDER_VISITS])
    assert ttl_indexes(mongodb, "visits")["expires_at_-1"] == 600
    for store in (older, newer, again):
        await store.close()


async def test_an_index_that_is_not_needed_any_more_is_dropped(mongodb):
    for collection, is_there in ((INDEXED, True), (USERS, False), (INDEXED, True)):
        twins = [make(mongodb), make(mongodb)]
        await asyncio.gather(*(store.open([collection]) for store in twins))
        with closing(MongoClient(mongodb)) as client:
            indexes = client.get_default_database()["users"].index_information()
        for store in twins:
            await store.close()

        assert ("org_id_1_family_1__id_1" in indexes) is is_there
