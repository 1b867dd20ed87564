"""Clients of MongoDB that are killed: what they acknowledged is there, and they block nobody."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from storage import Insert, Update
from tests.storage.fire import script
from tests.storage.fire.kills import Tally, judge, random_kills, writers
from tests.storage.fire.writing import Order
from tests.storage.mongo.mongo_stores import DRIVERS, make
from tests.storage.records import ALL, USERS, user

ROOT = Path(__file__).parents[3]
SCRIPT = 2 * len(script.KINDS) + 1
RANDOM_KILLS = 200

# The server ends what is older than 5 s when it looks, which it does every 2.5 s.
TRANSACTION_SECONDS = 7.5

IN_A_TRANSACTION = """
import asyncio, sys
from tests.storage.mongo.mongo_stores import make
from tests.storage.records import ALL

async def main(url):
    store = make(url)
    await store.open(ALL)
    driver = store._open.driver
    users = driver.collection("users")
    async with driver.transaction() as session:
        await users.update_one({"_id": "a"}, {"$inc": {"n": 1}}, session=session)
        print("written", flush=True)
        await asyncio.sleep(60)

asyncio.run(main(sys.argv[1]))
"""


@pytest.fixture(params=DRIVERS)
def url(request, mongodb):
    return with_driver(mongodb, request.param)


def with_driver(url, driver):
    return f"{url}{'&' if '?' in url else '?'}driver={driver}"


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_before_or_after_a_write_mongodb_has_exactly_what_came_before(
    url, when, record_property
):
    tally = Tally()
    with writers() as begotten:
        for n in range(1, SCRIPT + 1):
            order = Order(f"{when}-{n}", url, steps=SCRIPT, crash=f"{when} {n}")
            begotten.begin(order)
            end = begotten.end(order)
            progress = asyncio.run(judge(url, end, tally))
            tally.count(end, progress)

            assert list(end.acknowledged.values()) == [n - 1]
            assert list(progress.values()) == [n - 1 if when == "before" else n]
    record_property("counts", str(tally))
    assert (tally.kills, tally.faults) == (SCRIPT, [])


@pytest.mark.load
def test_of_what_killed_clients_acknowledged_nothing_is_lost_double_or_half(
    mongodb, record_property
):
    """Clients of both drivers at once, on one database."""
    urls = [with_driver(mongodb, driver) for driver in ("pymongo", "motor")]
    with ThreadPoolExecutor() as pool:
        tallies = list(pool.map(kill_at_random, urls, (20260102, 20260103)))
    record_property("counts", f"PyMongo: {tallies[0]}; Motor: {tallies[1]}")

    for tally in tallies:
        assert (tally.kills, tally.faults) == (RANDOM_KILLS, [])
        assert tally.acknowledged > RANDOM_KILLS


def kill_at_random(url, seed):
    return random_kills(url, RANDOM_KILLS, seed, longest=0.25)


@pytest.mark.load
async def test_a_client_killed_inside_a_transaction_blocks_its_record_for_seconds(url):
    store = make(url)
    await store.open(ALL)
    await store.commit(Insert(USERS, user("a")))
    await asyncio.to_thread(killed_in_a_transaction, url)
    began = time.monotonic()
    await store.commit(Update(USERS, "a", increment={"n": 10}))
    waited = time.monotonic() - began

    assert (await store.get(USERS, "a")).n == 10
    assert 1 < waited < TRANSACTION_SECONDS + 1
    await store.close()


def killed_in_a_transaction(url):
    """A client that has written to the user `a`, and died before it could commit."""
    command = [sys.executable, "-c", IN_A_TRANSACTION, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as client:
        assert client.stdout.readline() == b"written\n"
        client.kill()
