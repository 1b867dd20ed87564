"""One interface for the drivers: PyMongo's AsyncMongoClient, Motor, mongomock-motor.

This module contains all their differences: which calls are awaited, and what mongomock-motor,
which is for tests only, can't do. It is recognized by not implementing `hello`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from bson.codec_options import CodecOptions
from msgspec import Struct
from pymongo import AsyncMongoClient, DeleteOne, InsertOne, ReadPreference, ReplaceOne, UpdateOne
from pymongo.errors import BulkWriteError, ConfigurationError, DuplicateKeyError, PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from storage.base import (
    UNKNOWN_AFTER_SECONDS,
    Collection,
    InvalidValue,
    Unavailable,
    Undeclared,
)
from storage.mongo import faults, similar_updates
from storage.mongo.documents import Document, WriteOperation, inserted_bytes
from storage.mongo.instants import NAIVE, make_aware
from storage.mongo.pool import PoolListener
from storage.mongo.primary import PrimaryListener
from storage.mongo.read_queue import DRIVERS_LIMIT, ReadQueue
from storage.observer import Observer

T = TypeVar("T")

DEFAULT_DATABASE: Final = "idp"
ABORT_SECONDS: Final = 1.0
DURABLE: Final = WriteConcern("majority", j=True)
# By its name: for an index given by its fields, the drivers build the name for every operation.
_ID_INDEX: Final = "_id_"
_MAX_BYTES: Final = 16 * 1024 * 1024  # per command, whose limit is three times as high
_OPTIONS: Final[Mapping[str, Any]] = {
    "retryWrites": True,
    "retryReads": True,
    # With the drivers' own timeouts an unresponsive primary costs 20 s, with these 4.
    "socketTimeoutMS": 3000,
    "connectTimeoutMS": 1000,
    "heartbeatFrequencyMS": 1000,
    "serverSelectionTimeoutMS": 2000,
}


class DriverReply(Struct, frozen=True):
    """The result of a write command: `matched_count` is how many records it found, `refused` has
    the server's write errors by the index of the operation in the command."""

    matched_count: int = 0
    refused: dict[int, Document] = {}


class Driver:
    """A client and its database. `hello` is the server's description of itself at opening."""

    def __init__(
        self,
        client: Any,
        database: str,
        hosts: str,
        *,
        is_owned: bool,
        runs_in_threads: bool = False,
    ) -> None:
        self.client: Final = client
        self.hosts: Final = hosts
        self.database: Final = client.get_database(database)
        self.hello: Document = {}
        self.shares_commands = True
        self.has_sessions = True
        self.opened: frozenset[str] = frozenset()
        self._is_owned = is_owned
        self._runs_in_threads = runs_in_threads
        self._abandoned: set[asyncio.Future[Any]] = set()
        self._collections: dict[str, Any] = {}
        self._read_from: dict[str, Any] = {}
        self.reads: Final = ReadQueue(client)

    @property
    def address(self) -> str:
        """Host and port of the first server in the URL."""
        return self.hosts.split(",")[0]

    async def connect(self) -> None:
        """Connects to the server, stores its self-description in `hello`, and finds out which
        features it supports."""
        try:
            self.hello = await self.client.admin.command("hello")
        except NotImplementedError:
            self.shares_commands = self.has_sessions = False

    async def close(self) -> None:
        if self._is_owned:
            await _await_result(self.client.close())

    async def send(self, command: Awaitable[T]) -> T:
        """Awaits a command that writes, and returns its result.

        With a driver that runs in threads, the command continues when its caller is cancelled;
        `drain` waits for it.
        """
        if not self._runs_in_threads:
            return await command
        running = asyncio.ensure_future(command)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            self._abandoned.add(running)
            running.add_done_callback(self._abandoned.discard)
            raise

    async def drain(self) -> None:
        """Waits until every command whose caller was cancelled (`send`) has ended, so that none
        can be applied later. Raises Unavailable if one takes too long."""
        if self._abandoned:
            _, unfinished = await asyncio.wait(set(self._abandoned), timeout=UNKNOWN_AFTER_SECONDS)
            if unfinished:
                raise Unavailable("a command whose answer was lost is still under way")

    def check_opened(self, collection: Collection[Any]) -> None:
        """Raises Undeclared for a collection whose indexes were not created when the store was
        opened.
        """
        if collection.name not in self.opened:
            raise Undeclared(f"the store was opened without the collection {collection.name!r}")

    def collection(self, name: str) -> Any:
        """Returns the driver's collection of this name: its writes are durable, its reads are of
        the primary, and its instants are in UTC.
        """
        if name not in self._collections:
            zone = UTC if self.shares_commands else None
            self._collections[name] = self.database.get_collection(
                name,
                codec_options=CodecOptions(tz_aware=True, tzinfo=zone),
                write_concern=DURABLE,
                read_preference=ReadPreference.PRIMARY,
            )
        return self._collections[name]

    async def find(self, name: str, conditions: Document, **options: Any) -> list[Document]:
        """Returns the documents of the collection `name` that match the filter, in one reply of
        the server where they fit into one; `options` are those of the driver's `find`."""
        cursor = self._readable(name).find(conditions, **options)
        return await self._read(cursor)

    async def aggregate(
        self, name: str, pipeline: list[Document], size: int, session: Any = None
    ) -> list[Document]:
        request = self._readable(name).aggregate(pipeline, batchSize=size, session=session)
        cursor = await _await_result(request)
        return await self._read(cursor)

    def _readable(self, name: str) -> Any:
        """Returns the collection for callers that add the time zone to its instants themselves."""
        if not self.shares_commands:
            return self.collection(name)
        if name not in self._read_from:
            self._read_from[name] = self.collection(name).with_options(codec_options=NAIVE)
        return self._read_from[name]

    async def _read(self, cursor: Any) -> list[Document]:
        documents: list[Document] = await cursor.to_list(None)
        if self.shares_commands:
            make_aware(documents)
        return documents

    async def write(
        self, operations: Sequence[WriteOperation], session: Any = None
    ) -> DriverReply:
        """Sends operations of one collection and kind as one command, and returns its result.

        In a session, the first operation that the server refuses ends the transaction; otherwise
        all others are applied.
        """
        if not self.shares_commands:
            return await self._write_singly(operations)
        if session is None and operations[0].kind == "update":
            return await self._update(operations)
        if session is not None and inserted_bytes(operations) <= _MAX_BYTES:
            return await self._insert(operations, session)
        if session is not None and operations[0].kind == "update":
            return await self._update_in_transaction(session, operations)
        return await self._bulk(operations, session)

    async def _bulk(self, operations: Sequence[WriteOperation], session: Any) -> DriverReply:
        collection = self.collection(operations[0].name)
        requests = [_request(operation) for operation in operations]
        try:
            request = collection.bulk_write(requests, ordered=session is not None, session=session)
            result = await self.send(request)
        except BulkWriteError as error:
            if faults.has_weak_acknowledgement(error):
                raise
            refused = {
                error_details["index"]: error_details
                for error_details in error.details["writeErrors"]
            }
            return DriverReply(error.details["nMatched"] + error.details["nRemoved"], refused)
        return DriverReply(result.matched_count + result.deleted_count)

    async def _update(self, operations: Sequence[WriteOperation]) -> DriverReply:
        """Sends updates as the server's own command, at half the cost of the driver's bulk write.

        The driver does not retry it, and the server does not remember it for retries: an update
        carries its mark, which identifies a repetition more reliably.
        """
        command: Document = {
            "update": operations[0].name,
            "updates": [
                {"q": operation.filter, "u": operation.change, "hint": _ID_INDEX}
                for operation in operations
            ],
            "ordered": False,
            "writeConcern": DURABLE.document,
        }
        reply: Document = await self.send(self.database.command(command))
        errors = reply.get("writeErrors", [])
        faults.check_acknowledged(reply, errors)
        return DriverReply(reply["n"], {error["index"]: error for error in errors})

    async def _update_in_transaction(
        self, session: Any, operations: Sequence[WriteOperation]
    ) -> DriverReply:
        """Updates in a transaction: each group of similar updates by one statement, the others by
        a bulk write."""
        split = similar_updates.split(operations)
        matched = 0
        if split.statements:
            command = {
                "update": operations[0].name,
                "updates": split.statements,
                "ordered": True,
            }
            reply: Document = await self.send(self.database.command(command, session=session))
            matched = reply["n"]
            if errors := reply.get("writeErrors"):
                return DriverReply(
                    matched, {split.first_indexes[error["index"]]: error for error in errors}
                )
        if not split.other_indexes:
            return DriverReply(matched)
        other_outcomes = await self._bulk(
            [operations[index] for index in split.other_indexes], session
        )
        refused = {
            split.other_indexes[index]: details
            for index, details in other_outcomes.refused.items()
        }
        return DriverReply(matched + other_outcomes.matched_count, refused)

    async def _insert(self, operations: Sequence[WriteOperation], session: Any) -> DriverReply:
        """Inserts documents that are encoded already, in a session, by the server's own
        command."""
        command = {
            "insert": operations[0].name,
            "documents": [operation.change for operation in operations],
            "ordered": True,
        }
        reply: Document = await self.send(self.database.command(command, session=session))
        return DriverReply(0, {error["index"]: error for error in reply.get("writeErrors", [])})

    async def _write_singly(self, operations: Sequence[WriteOperation]) -> DriverReply:
        matched = 0
        refused: dict[int, Document] = {}
        for index, operation in enumerate(operations):
            try:
                matched += await _send_single(self.collection(operation.name), operation)
            except DuplicateKeyError as error:
                refused[index] = faults.duplicate(error)
        return DriverReply(matched, refused)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        """Returns a context with a session in a transaction, which is aborted unless it was
        committed.
        """
        session = await _await_result(self.client.start_session(causal_consistency=False))
        try:
            await _await_result(
                session.start_transaction(
                    read_concern=ReadConcern("snapshot"), write_concern=DURABLE
                )
            )
            try:
                yield session
            finally:
                if session.in_transaction:
                    await _abort(session)
        finally:
            await _await_result(session.end_session())

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Any]:
        """Returns a context with a session whose reads are all of one moment; None where sessions
        are not supported.
        """
        if not self.has_sessions:
            yield None
            return
        session = await _await_result(self.client.start_session(snapshot=True))
        try:
            yield session
        finally:
            await _await_result(session.end_session())


def connect(url: str, client: Any = None, observer: Observer | None = None) -> Driver:
    """Returns the driver that the URL names (`?driver=motor`), or one that uses the given client.
    `observer` is notified of another primary, of connections and of waits for one.

    Raises InvalidValue.
    """
    parts = urlsplit(url)
    database = parts.path.lstrip("/") or DEFAULT_DATABASE
    # For messages: without the user and the password.
    hosts = parts.netloc.rpartition("@")[2]
    if client is not None:
        return Driver(client, database, hosts, is_owned=False)
    query = parse_qsl(parts.query, keep_blank_values=True)
    parameters = {name.lower(): value for name, value in query}
    own_parameters = {"driver", DRIVERS_LIMIT}
    other_options = urlencode(
        [(name, value) for name, value in query if name.lower() not in own_parameters]
    )
    options = {name: value for name, value in _OPTIONS.items() if name.lower() not in parameters}
    if observer is not None:
        options["event_listeners"] = [PrimaryListener(observer), PoolListener(observer)]
    driver_url = parts._replace(path=parts.path or "/", query=other_options).geturl()
    name = parameters.get("driver", "pymongo")
    client = _client(name, driver_url, options)
    driver = Driver(client, database, hosts, is_owned=True, runs_in_threads=name == "motor")
    driver.reads.observer = observer
    return driver


def _client(driver: str, url: str, options: dict[str, Any]) -> Any:
    try:
        if driver == "pymongo":
            return AsyncMongoClient(url, **options)
        if driver == "motor":
            from motor.motor_asyncio import AsyncIOMotorClient

            return AsyncIOMotorClient(url, **options)
    except (ConfigurationError, ValueError) as error:
        # The error may quote the part of the URL that holds the password.
        reason = type(error).__name__
        raise InvalidValue(f"MongoDB's drivers can't read this URL ({reason})") from None
    raise InvalidValue(f"there is no MongoDB driver {driver!r}: pymongo or motor")


def _request(operation: WriteOperation) -> Any:
    if operation.kind == "update":
        return UpdateOne(operation.filter, operation.change, hint=_ID_INDEX)
    if operation.kind == "delete":
        return DeleteOne(operation.filter, hint=_ID_INDEX)
    if operation.replaces:
        return ReplaceOne(operation.filter, operation.change, upsert=True, hint=_ID_INDEX)
    return InsertOne(operation.change)


async def _send_single(collection: Any, operation: WriteOperation) -> int:
    """Returns how many records one operation found, sent as a command of its own."""
    if operation.kind == "update":
        return int((await collection.update_one(operation.filter, operation.change)).matched_count)
    if operation.kind == "delete":
        return int((await collection.delete_one(operation.filter)).deleted_count)
    if operation.replaces:
        await collection.replace_one(operation.filter, operation.change, upsert=True)
    else:
        await collection.insert_one(operation.change)
    return 0


async def _abort(session: Any) -> None:
    try:
        async with asyncio.timeout(ABORT_SECONDS):
            await session.abort_transaction()
    except (PyMongoError, TimeoutError):
        # The server aborts the transaction itself; nothing of it has been applied.
        return


async def _await_result(value: Any) -> Any:
    """Returns a value of a driver, awaited if it is an awaitable: the drivers differ in that."""
    return await value if inspect.isawaitable(value) else value
