"""The state of a store's server for operators: its version, members, parameters and indexes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from pymongo.errors import OperationFailure

from storage.base import Collection
from storage.condition import ServerState
from storage.mongo.documents import Document
from storage.mongo.driver import Driver
from storage.mongo.opening import MAX_CONCURRENT, indexes_of, is_sharded

_TRANSACTIONS: Final = "transactionLifetimeLimitSeconds"
_HISTORY: Final = "minSnapshotHistoryWindowInSeconds"
_HAVE_RECORDS: Final = frozenset({"RSPrimary", "RSSecondary"})
_DISCOVERY_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.02


async def missing_indexes(driver: Driver, collections: Sequence[Collection[Any]]) -> list[str]:
    """Returns the names of the collections and indexes that the database does not have."""
    existing = set(await driver.database.list_collection_names())
    semaphore = asyncio.Semaphore(MAX_CONCURRENT)

    async def missing(collection: Collection[Any]) -> list[str]:
        if collection.name not in existing:
            return [collection.name]
        declared = [index.document["name"] for index in indexes_of(collection)]
        async with semaphore:
            index_information = await driver.collection(collection.name).index_information()
        return [f"{collection.name}.{name}" for name in declared if name not in index_information]

    lists = await asyncio.gather(*(missing(collection) for collection in collections))
    return [name for names in lists for name in names]


async def server_state(driver: Driver) -> ServerState:
    """Returns the state of the server that the driver is connected to."""
    admin = driver.client.admin
    hello = await admin.command("hello")
    version = (await admin.command("buildInfo"))["versionArray"][:3]
    if is_sharded(hello):
        return ServerState(tuple(version))
    members = len({*hello["hosts"], *hello.get("passives", ())})
    parameters = await _parameters(driver)
    return ServerState(
        tuple(version),
        members=members,
        reachable=await _reachable(driver, members),
        unconfirmed_seconds=_unconfirmed_seconds(hello),
        transaction_seconds=parameters.get(_TRANSACTIONS),
        history_seconds=parameters.get(_HISTORY),
    )


def _unconfirmed_seconds(hello: Document) -> float:
    last_write = hello.get("lastWrite", {})
    if "majorityWriteDate" not in last_write:
        return 0.0
    seconds = (last_write["lastWriteDate"] - last_write["majorityWriteDate"]).total_seconds()
    return float(max(0.0, seconds))


async def _parameters(driver: Driver) -> Document:
    """Returns the parameters of the primary; none if the user may not read them."""
    command = {"getParameter": 1, _TRANSACTIONS: 1, _HISTORY: 1}
    try:
        answer: Document = await driver.client.admin.command(command)
    except OperationFailure:
        return {}
    return answer


async def _reachable(driver: Driver, members: int) -> int:
    """Returns how many members answer; all of them, if the URL lets the driver connect
    to a single one only."""
    if driver.client.topology_description.topology_type_name == "Single":
        return members
    polls = int(_DISCOVERY_SECONDS / _POLL_SECONDS)
    for _ in range(polls):
        if _count_discovered(driver) >= members:
            break
        await asyncio.sleep(_POLL_SECONDS)
    return min(_count_discovered(driver), members)


def _count_discovered(driver: Driver) -> int:
    servers = driver.client.topology_description.server_descriptions().values()
    return sum(server.server_type_name in _HAVE_RECORDS for server in servers)


async def rolls_back(driver: Driver, name: str) -> bool:
    """Returns whether an aborted transaction is rolled back completely, in a new collection of
    this name."""
    await driver.database.create_collection(name)
    collection = driver.collection(name)
    try:
        async with driver.transaction() as session:
            await collection.insert_one({"_id": "aborted"}, session=session)
        return bool(await collection.count_documents({}) == 0)
    finally:
        await collection.drop()
