"""Reads of what a majority of the servers has, for answers that rest on a record.

The primary may hold a record that no other server has: the answer of its write is still awaited,
or was lost. If the primary fails, that record is rolled back. So what says that something was done
before, or that a key is taken, is read here: a linearizable read is answered once a majority has
what it returns, and not at all without a majority.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from bson import ObjectId
from pymongo.read_concern import ReadConcern

from storage.base import META, SCHEMA_ID, Conflict, Stale, StorageError, Unavailable
from storage.mongo.documents import Document, WriteOperation
from storage.mongo.driver import Driver
from storage.mongo.reads import Documents

_LINEARIZABLE: Final = ReadConcern("linearizable")


async def find(driver: Driver, name: str, conditions: Document, **options: Any) -> list[Document]:
    """Returns the documents of the collection `name` that match the filter; `options` are those of
    the driver's `find`."""
    collection = driver.collection(name)
    if driver.has_sessions:  # an imitation in this process is never rolled back
        collection = collection.with_options(read_concern=_LINEARIZABLE)
    documents: list[Document] = await collection.find(conditions, **options).to_list(None)
    return documents


async def documents(driver: Driver, keys: Iterable[tuple[str, str]]) -> Documents:
    """Returns the documents of these keys, pairs of a collection's name and an id, by key."""
    return {
        (name, record_id): document
        for name, record_id in keys
        for document in await driver.reads.read(partial(find, driver, name, {"_id": record_id}))
    }


def term(driver: Driver) -> ObjectId | None:
    """Returns the id of the election that made the known primary the primary; None if no primary
    is known, or behind a router."""
    if not driver.has_sessions:
        return None
    servers = driver.client.topology_description.server_descriptions().values()
    primaries = (server for server in servers if server.server_type_name == "RSPrimary")
    election_id: ObjectId | None = next((server.election_id for server in primaries), None)
    return election_id


async def confirm(driver: Driver, since: ObjectId | None) -> None:
    """Returns once a majority has what the primary has now. Raises Unavailable unless that is the
    primary by the election `since`: what another one returned may be rolled back."""
    if not driver.has_sessions:
        return
    await find(driver, META.name, {"_id": SCHEMA_ID})
    hello = await driver.client.admin.command("hello")
    if hello.get("electionId") != since:
        raise Unavailable("another server became the primary while the request was answered")


async def are_final(
    driver: Driver, units: Sequence[Sequence[WriteOperation]], refused: Mapping[int, StorageError]
) -> bool:
    """Returns whether a majority has the records because of which a transaction refused these
    units, by their indexes. Otherwise the transaction may succeed when it is repeated.

    A transaction that is committed is known to a majority with all that it has read; one that is
    aborted is not.
    """
    awaited: dict[str, list[Document]] = {}
    for index, error in refused.items():
        if isinstance(error, Conflict) and not await _is_taken(driver, units[index], error):
            return False
        if isinstance(error, Stale):
            filters = awaited.setdefault(error.collection, [])
            filters += [op.filter for op in _of(units[index], error) if op.write.id == error.id]
    for name, filters in awaited.items():
        if await find(driver, name, {"$or": filters}, limit=1, projection={"_id": 1}):
            return False
    return True


async def _is_taken(driver: Driver, operations: Sequence[WriteOperation], error: Conflict) -> bool:
    """Returns whether some record has a value that these operations give to the unique field."""
    field = "_id" if error.field == "id" else error.field
    values = [value for op in _of(operations, error) for value in _given(op, field)]
    taken = {field: {"$in": values}}
    return bool(await find(driver, error.collection, taken, limit=1, projection={"_id": 1}))


def _of(operations: Iterable[WriteOperation], error: Conflict | Stale) -> Iterable[WriteOperation]:
    return (operation for operation in operations if operation.name == error.collection)


def _given(operation: WriteOperation, field: str) -> Iterable[object]:
    """Returns the value that an operation gives to a field, if it gives one."""
    document = operation.change.get("$set", {}) if operation.kind == "update" else operation.change
    return [document[field]] if field in document else []
