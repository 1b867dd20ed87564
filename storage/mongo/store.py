"""The store on MongoDB."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

from storage import codec, deadline, upgrades
from storage.base import (
    COUNT_CAP,
    COUNTERS,
    FIRST_SCHEMA,
    Collection,
    Counter,
    Cursor,
    InvalidValue,
    Key,
    Outcome,
    Page,
    PreparedWrites,
    R,
    Reader,
    Schema,
    StorageError,
    Store,
    Unavailable,
    Undeclared,
    Unit,
    Unknown,
    Value,
    Where,
    Write,
)
from storage.condition import OVERDUE_AFTER, ServerState
from storage.following import Follow, Records
from storage.mongo import bulk, confirmed_reads, faults, inspection, opening, transactions
from storage.mongo.counters import Counters, counting
from storage.mongo.documents import WriteOperation, operations, with_encoded_document
from storage.mongo.driver import Driver, connect
from storage.mongo.pages import Pages
from storage.mongo.reads import SharedReads, documents
from storage.mongo.transactions import PreparedTransaction
from storage.mongo.writes import Lane
from storage.observer import BatchTimer, Observer, current_call
from storage.writability import record_outcome

T = TypeVar("T")

ENCODED_PER_TURN: Final = 64
PING_SECONDS: Final = 2.0


class MongoStore(Store):
    """A store in a replica set; `?driver=motor` in the URL selects the other driver.

    `client` is used instead of a client of the store's own, and is left open by `close`.
    """

    def __init__(
        self,
        url: str,
        *,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        client: Any = None,
    ) -> None:
        self._url = url
        self._now = now
        self._new_id = new_id
        self._client = client
        self._opened: _OpenStore | None = None
        self._expiring: list[Collection[Any]] = []
        self._closing: asyncio.Future[None] | None = None

    async def open(
        self, collections: Sequence[Collection[Any]], schema: Schema | None = FIRST_SCHEMA
    ) -> None:
        for collection in collections:
            codec.check_collection(collection)
        driver = connect(self._url, self._client, self.observer)
        try:
            await opening.check_server(driver)
            if schema is not None:
                await opening.agree_on_schema(driver, schema, self._now, self._new_id)
            await opening.create(driver, collections)
        except BaseException:
            await driver.close()
            raise
        self._opened = _OpenStore(driver, self._now, self.observer)
        self.is_sharded = opening.is_sharded(driver.hello)
        self._expiring = [
            COUNTERS,
            *(collection for collection in collections if collection.expires),
        ]
        await upgrades.at_opening(self, schema, self._now, self._new_id)

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            self._closing = opened.task(opened.finish())
        if self._closing is not None:
            await asyncio.shield(self._closing)

    async def get(self, collection: Collection[R], id: str) -> R | None:
        return await self._open.pages.get(collection, id)

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        return await self._open.pages.get_many(keys)

    async def get_confirmed(self, collection: Collection[R], record_id: str) -> R | None:
        driver = self._open.driver
        find = partial(confirmed_reads.documents, driver)
        return await Pages(driver, self._now, find).get(collection, record_id)

    def read_point(self) -> object:
        return confirmed_reads.term(self._open.driver)

    async def confirm(self, point: Any) -> None:
        driver = self._open.driver
        await driver.reads.read(partial(confirmed_reads.confirm, driver, point))

    async def get_following(self, keys: Sequence[Key], follow: Sequence[Follow]) -> Records:
        return await self._open.pages.get_following(keys, follow)

    async def find(
        self,
        collection: Collection[R],
        where: Where | None = None,
        *,
        order: str | None = None,
        descending: bool = False,
        limit: int = 100,
        after: Cursor | None = None,
    ) -> Page[R]:
        return await self._open.pages.find(
            collection, where, order=order, descending=descending, limit=limit, after=after
        )

    async def find_each(
        self, collection: Collection[R], field: str, values: Sequence[Value], limit: int = 2
    ) -> dict[Value, list[R]]:
        return await self._open.pages.find_each(collection, field, values, limit)

    async def count(
        self, collection: Collection[Any], where: Where | None = None, *, up_to: int = COUNT_CAP
    ) -> int:
        return await self._open.pages.count(collection, where, up_to=up_to)

    def scan(
        self, collection: Collection[R], where: Mapping[str, Value] | None = None
    ) -> AsyncIterator[R]:
        return self._open.pages.scan(collection, where)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Reader]:
        """Returns a context in which all reads are from one moment.

        The server can read that state for minSnapshotHistoryWindowInSeconds.
        """
        driver = self._open.driver
        moment = self._now()
        async with driver.snapshot() as session:
            fetch = partial(_read_in, driver, session)
            view = Pages(driver, lambda: moment, fetch, session)
            # The first read determines the moment.
            await view.get(COUNTERS, "-")
            yield view

    async def commit(self, *writes: Write) -> None:
        opened = self._open
        unit = opened.prepared(Unit(self._new_id(), writes))
        outcome: Outcome
        try:
            outcome = await opened.outcome(unit)
        except StorageError as error:  # at the deadline of the request
            outcome = error
        record_outcome(self, outcome)
        if outcome is not None:
            raise outcome

    def prepare(self, writes: Sequence[Write]) -> Sequence[Write]:
        try:
            unit = Unit(self._new_id(), tuple(writes))
            return PreparedWrites.of(writes, self._open.with_encoded_documents(unit))
        except StorageError:
            return writes  # refused when it is stored

    async def commit_each(self, units: Sequence[Sequence[Write]]) -> list[Outcome]:
        opened = self._opened
        if opened is None:
            return [Unavailable("the store is not open") for _ in units]
        outcomes: list[Outcome] = [None] * len(units)
        prepared: dict[int, PreparedTransaction] = {}
        for index, writes in enumerate(units):
            if isinstance(writes, PreparedWrites):
                prepared[index] = writes.prepared
                continue
            if index % ENCODED_PER_TURN == 0:
                # Other tasks run while a large import is encoded.
                await asyncio.sleep(0)
            try:
                prepared[index] = opened.prepared(Unit(self._new_id(), tuple(writes)))
            except (InvalidValue, Undeclared) as error:
                outcomes[index] = error
        prepared_outcomes = await opened.outcomes(list(prepared.values()))
        for index, outcome in zip(prepared, prepared_outcomes, strict=True):
            outcomes[index] = outcome
            record_outcome(self, outcome)
        return outcomes

    async def applied(self, unit: Unit) -> bool | None:
        opened = self._open
        operations = opened.prepared(unit).operations

        async def check() -> bool | None:
            await opened.driver.drain()
            return await faults.read(
                lambda: transactions.finally_applied(opened.driver, operations)
            )

        return await opened.run_until_deadline(
            check, lambda: Unavailable("MongoDB gives no answer in time")
        )

    async def increment(self, key: str, by: int = 1, *, window: timedelta) -> Counter:
        codec.check_count(key, by)
        opened = self._open
        unit = counting(self._new_id(), key, by)
        try:
            count = partial(opened.counters.increment, unit, by, window)
            counter = await opened.run_until_deadline(count, lambda: Unknown(unit))
        except StorageError as error:
            record_outcome(self, error)
            raise
        record_outcome(self, counter)
        return counter

    async def ping(self) -> None:
        ping = self._open.driver.client.admin.command
        await faults.read(lambda: ping("ping"), PING_SECONDS)

    async def server_time(self) -> datetime | None:
        driver = self._open.driver
        if not driver.has_sessions:  # an imitation in this process
            return None
        hello = await faults.read(lambda: driver.client.admin.command("hello"), PING_SECONDS)
        local_time: datetime = hello["localTime"]
        return local_time if local_time.tzinfo else local_time.replace(tzinfo=UTC)

    async def missing_indexes(self, collections: Sequence[Any]) -> list[str]:
        driver = self._open.driver
        return await faults.read(lambda: inspection.missing_indexes(driver, collections))

    async def engine_version(self) -> str:
        driver = self._open.driver
        if not driver.has_sessions:  # an imitation in this process
            return ""
        info = await faults.read(lambda: driver.client.admin.command("buildInfo"), PING_SECONDS)
        return str(info["version"])

    async def server_state(self) -> ServerState | None:
        driver = self._open.driver
        if not driver.has_sessions:  # an imitation in this process
            return None
        return await faults.read(lambda: inspection.server_state(driver))

    async def rolls_back(self) -> bool:
        driver = self._open.driver
        return await faults.read(lambda: inspection.rolls_back(driver, f"check_{self._new_id()}"))

    async def count_overdue(self, *, up_to: int) -> int:
        driver, total = self._open.driver, 0
        for collection in self._expiring:
            before = self._now() - collection.retention - OVERDUE_AFTER
            count = partial(
                driver.collection(collection.name).count_documents,
                {"expires_at": {"$lt": before}},
                limit=up_to,
            )
            total += await faults.read(count)
            if total >= up_to:
                break
        return min(total, up_to)

    @property
    def _open(self) -> _OpenStore:
        if self._opened is None:
            raise Unavailable("the store is not open")
        return self._opened


class _OpenStore:
    """The driver and the units in progress, between open and close."""

    def __init__(
        self, driver: Driver, now: Callable[[], datetime], observer: Observer | None
    ) -> None:
        self.driver = driver
        self._observer = observer
        self._reads = SharedReads(driver, observer)
        self.pages = Pages(driver, now, self._reads.fetch, shared=self._reads)
        self.counters = Counters(driver, now)
        self._now = now
        self._lanes: dict[tuple[str, str, bool], Lane] = {}
        self._pending: set[asyncio.Future[Any]] = set()

    def prepared(self, unit: Unit) -> PreparedTransaction:
        """Returns the unit, checked and encoded. Raises InvalidValue, Undeclared."""
        for write in unit.writes:
            self.driver.check_opened(write.collection)
        return PreparedTransaction(unit, operations(unit, self._now()))

    def with_encoded_documents(self, unit: Unit) -> PreparedTransaction:
        """Returns the unit with BSON documents where the driver can send them."""
        prepared = self.prepared(unit)
        if not self.driver.has_sessions:
            return prepared
        return PreparedTransaction(
            unit, [with_encoded_document(operation) for operation in prepared.operations]
        )

    async def outcome(self, unit: PreparedTransaction) -> Outcome:
        """Returns the outcome of a unit, which continues without its caller. A unit of a single
        write joins a shared command.

        At the deadline of the request it raises Unknown, or Unavailable if nothing was sent.
        """
        if len(unit.operations) > 1:
            return await self.run_until_deadline(
                partial(self._commit_transaction, unit), lambda: Unknown(unit.unit)
            )
        operation = unit.operations[0]
        with deadline.TimedCall() as seconds:
            return await self._lane(operation).outcome(operation, seconds)

    def _lane(self, operation: WriteOperation) -> Lane:
        is_solo = operation.is_conditional_delete
        key = (operation.name, operation.kind, is_solo)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(self.driver, solo=is_solo, observer=self._observer)
        return lane

    async def _commit_transaction(self, unit: PreparedTransaction) -> Outcome:
        calls = [current_call()]
        with BatchTimer(self._observer, "mongodb", "write", "transaction", calls):
            return (await transactions.commit_together(self.driver, [unit]))[0]

    def task(self, work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().create_task(work)

    async def outcomes(self, units: Sequence[PreparedTransaction]) -> list[Outcome]:
        """Returns the outcomes of units, in order."""

        def on_timeout() -> list[Outcome]:
            return [Unknown(unit.unit) for unit in units]

        try:
            return await self.run_until_deadline(
                partial(bulk.commit_each, self.driver, units), on_timeout
            )
        except Unavailable as error:
            return [error for _ in units]

    async def run_until_deadline(
        self,
        work: Callable[[], Coroutine[Any, Any, T]],
        on_timeout: Callable[[], T | StorageError],
    ) -> T:
        """Returns the result of work that continues when the caller is cancelled, and that
        `finish` awaits. At the deadline of the request, the result is that of `on_timeout`.

        Raises Unavailable, without beginning the work, if no time is left.
        """
        with deadline.TimedCall() as seconds:
            task = self.task(work())
            self._pending.add(task)
            task.add_done_callback(self._pending.discard)
            return await deadline.wait_for_answer(
                deadline.answer_future(task), seconds, on_timeout
            )

    async def finish(self) -> None:
        for lane in self._lanes.values():
            await lane.drain()
        while self._pending:
            await asyncio.wait(set(self._pending))
        await self._reads.drain()
        await self.driver.reads.drain()
        await self.driver.close()


async def _read_in(driver: Driver, session: Any, keys: Any) -> Any:
    return await faults.read(lambda: documents(driver, keys, session))
