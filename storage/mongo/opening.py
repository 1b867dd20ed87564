"""Opening: checks that the server can fulfil the contract, and creates collections and indexes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

import pymongo
from pymongo import IndexModel
from pymongo.errors import (
    CollectionInvalid,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
)

from storage import upgrades
from storage.base import (
    COUNTERS,
    META,
    SCHEMA_ID,
    Collection,
    Conflict,
    MetaRecord,
    Schema,
    Stale,
    Unit,
    Unsupported,
)
from storage.mongo import faults
from storage.mongo.documents import Document, operations, record, stored_name
from storage.mongo.driver import Driver
from storage.mongo.reads import documents
from storage.mongo.writes import deliver

INDEX_BUILD_SECONDS: Final = 3600
MAX_CONCURRENT: Final = 4  # on a busy machine, more concurrent connections time out
OLDEST_WIRE_VERSION: Final = 13  # MongoDB 5.0, for snapshot reads outside transactions
_INDEX_NOT_FOUND: Final = 27
_NAMESPACE_EXISTS: Final = 48

_INITIATE: Final = 'mongosh "mongodb://{address}/?directConnection=true" --eval "rs.initiate()"'
_FIX: Final = (
    "a MongoDB replica set is needed, and {address} is not a member of one, or not of the one that"
    " the URL names. To turn a standalone server into a one-member set, restart it with"
    " `mongod --replSet rs0` and its other options (or `replication.replSetName: rs0` in"
    " mongod.conf), then run once: " + _INITIATE
)
_UNFINISHED: Final = (
    "{address} was started as a member of a replica set that does not exist yet. Run once: "
    + _INITIATE
)


async def check_server(driver: Driver) -> None:
    """Connects to the server and checks that it can fulfil the contract. Raises Unavailable,
    Unsupported.
    """
    try:
        await driver.connect()
    except ServerSelectionTimeoutError as error:
        _refuse_standalone_servers(driver)
        raise faults.unavailable(error, driver.hosts) from error
    except PyMongoError as error:
        raise faults.unavailable(error, driver.hosts) from error
    if not driver.has_sessions:
        return
    hello = driver.hello
    if "setName" not in hello and not is_sharded(hello):
        raise Unsupported(_FIX.format(address=driver.address))
    if hello["maxWireVersion"] < OLDEST_WIRE_VERSION:
        raise Unsupported("MongoDB 5.0 or newer is needed; upgrade the server")


def is_sharded(hello: Document) -> bool:
    """Returns whether the server with this self-description is a router of a sharded cluster."""
    return bool(hello.get("msg") == "isdbgrid")


def _refuse_standalone_servers(driver: Driver) -> None:
    """Raises Unsupported for servers that are in no replica set, or not in the requested one.

    Other servers are merely unreachable.
    """
    servers = driver.client.topology_description.server_descriptions().values()
    if any(server.server_type_name == "RSGhost" for server in servers):
        raise Unsupported(_UNFINISHED.format(address=driver.address))
    if not servers:
        # The driver drops servers that answer but do not belong to the set of the URL.
        raise Unsupported(_FIX.format(address=driver.address))


async def create(driver: Driver, collections: Sequence[Collection[Any]]) -> None:
    """Creates the missing collections and indexes, several concurrently. Raises Unavailable."""
    all_collections: list[Collection[Any]] = [META, COUNTERS, *collections]
    semaphore = asyncio.Semaphore(MAX_CONCURRENT)
    try:
        existing = set(await driver.database.list_collection_names())
        creations = [
            _create(driver, collection, existing, semaphore) for collection in all_collections
        ]
        failed = [
            error for error in await asyncio.gather(*creations, return_exceptions=True) if error
        ]
        if failed:
            raise failed[0]
    except PyMongoError as error:
        raise faults.unavailable(error, driver.hosts) from error
    driver.opened = frozenset(collection.name for collection in all_collections)


async def _create(
    driver: Driver, collection: Collection[Any], existing: set[str], semaphore: asyncio.Semaphore
) -> None:
    indexes = indexes_of(collection)
    async with semaphore:
        if _obsolete_indexes(collection) and collection.name in existing:
            await _drop_indexes(driver, collection)
        if indexes:
            # Building an index over many records takes longer than any other command may.
            with pymongo.timeout(INDEX_BUILD_SECONDS):
                await driver.collection(collection.name).create_indexes(indexes)
        elif collection.name not in existing:
            await _create_collection(driver, collection.name)


async def _create_collection(driver: Driver, name: str) -> None:
    """Creates a collection, which transactions require.

    Another process may create it at the same time.
    """
    try:
        await driver.database.create_collection(name)
    except CollectionInvalid:
        return
    except OperationFailure as error:
        if error.code != _NAMESPACE_EXISTS:
            raise


async def _drop_indexes(driver: Driver, collection: Collection[Any]) -> None:
    """Drops obsolete indexes. Another process may do the same concurrently."""
    driver_collection = driver.collection(collection.name)
    existing = await driver_collection.index_information()
    for index in (IndexModel(keys).document["name"] for keys in _obsolete_indexes(collection)):
        try:
            if index in existing:
                await driver_collection.drop_index(index)
        except OperationFailure as error:
            if error.code != _INDEX_NOT_FOUND:
                raise


def _obsolete_indexes(collection: Collection[Any]) -> list[list[tuple[str, int]]]:
    """Returns the indexes of older releases: those of lists that are narrowed now, and the one by
    which expired records were removed after a day."""
    lists = [_keys(fields) for fields in collection.narrowed]
    return [*lists, [("expires_at", 1)]] if collection.is_swept_soon else lists


def indexes_of(collection: Collection[Any]) -> list[IndexModel]:
    indexes = [IndexModel([(field, 1)], unique=True) for field in collection.unique]
    for fields in collection.lists:
        indexes.append(IndexModel(_keys(fields)))
    if collection.expires:
        seconds = int(collection.retention.total_seconds())
        indexes.append(IndexModel(_ttl_keys(collection), expireAfterSeconds=seconds))
    return indexes


def _ttl_keys(collection: Collection[Any]) -> list[tuple[str, int]]:
    """Returns the key of the index by expiry.

    For a collection that is swept soon its direction is reversed: so it differs from the index of
    a day that releases up to 0.1 create, and their processes can still start.
    """
    return [("expires_at", -1 if collection.is_swept_soon else 1)]


def _keys(fields: Sequence[str]) -> list[tuple[str, int]]:
    # The id breaks ties, so that a page can end among records of equal order.
    return list(dict.fromkeys((*map(stored_name, fields), "_id"), 1).items())


async def agree_on_schema(
    driver: Driver, schema: Schema, now: Callable[[], datetime], new_id: Callable[[], str]
) -> None:
    """Replaces the versions in the store's schema record by those of `schema`, this program's,
    where these are newer.

    Raises TooNew if this program can't read the store, HalfFilled, Unavailable.
    """
    while True:
        existing = await _schema_record(driver, now())
        write = upgrades.opening(existing, schema)
        if write is None:
            return
        outcome = (await deliver(driver, operations(Unit(new_id(), (write,)), now())))[0]
        if outcome is None:
            return
        if not isinstance(outcome, Stale | Conflict):
            raise outcome


async def _schema_record(driver: Driver, now: datetime) -> MetaRecord | None:
    key = (META.name, SCHEMA_ID)
    schema_documents = await faults.read(lambda: documents(driver, [key]))
    return record(META, schema_documents.get(key), now)
