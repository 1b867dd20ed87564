"""The back ends that the contract suite runs over, each made by a factory.

A test that asks for `store` runs on every back end. One that asks for `shared` runs on those
that several processes can open.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pymongo.monitoring
import pytest
from mongomock_motor import AsyncMongoMockClient

from storage import Store, open_store
from storage.mongo import MongoStore
from storage.sqlite import SqliteStore
from tests.storage import records
from tests.support.clock import SteppingClock

# What mongomock-motor does otherwise than MongoDB. It serves tests of the domain, not operators.
MONGOMOCK_DEVIATES: dict[str, str] = {}


class _Commands(pymongo.monitoring.CommandListener):
    """Counts the reading commands of every client made after its registration."""

    count = 0

    def started(self, event):
        self.count += event.command_name in ("find", "aggregate", "getMore")

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


_COMMANDS = _Commands()
pymongo.monitoring.register(_COMMANDS)


class Backend:
    """One back end: where it is, and how round trips to it are counted."""

    is_shared = True

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url
        self.ids: list[str] = []  # every id that its stores have made

    def make(self, clock: SteppingClock) -> Store:
        return open_store(self.url, now=clock.now, new_id=self._new_id)

    def _new_id(self) -> str:
        self.ids.append(uuid.uuid4().hex)
        return self.ids[-1]

    @contextmanager
    def counted(self, store: Store) -> Iterator[Callable[[], int]]:
        """How many reading commands were sent since the beginning of the block."""
        before = _COMMANDS.count
        yield lambda: _COMMANDS.count - before


class SqliteBackend(Backend):
    @contextmanager
    def counted(self, store: Store) -> Iterator[Callable[[], int]]:
        statements: list[str] = []
        connection = store._reader._connection
        connection.set_trace_callback(statements.append)
        yield lambda: len(statements)
        connection.set_trace_callback(None)


def _sqlite(request) -> Backend:
    return SqliteBackend("sqlite", f"sqlite:///{request.getfixturevalue('tmp_path')}/db.sqlite3")


def _memory(request) -> Backend:
    backend = SqliteBackend("memory", "memory://")
    backend.is_shared = False
    return backend


def _pymongo(request) -> Backend:
    return Backend("pymongo", request.getfixturevalue("mongodb"))


def _motor(request) -> Backend:
    url = request.getfixturevalue("mongodb")
    return Backend("motor", url + ("&" if "?" in url else "?") + "driver=motor")


class MongomockBackend(Backend):
    """The imitation, whose data is where its client is."""

    is_shared = False

    def __init__(self) -> None:
        super().__init__("mongomock", "mongodb://mongomock/")
        self._client = AsyncMongoMockClient()

    def make(self, clock: SteppingClock) -> Store:
        return MongoStore(
            self.url, now=clock.now, new_id=lambda: uuid.uuid4().hex, client=self._client
        )


def _mongomock(request) -> Backend:
    return MongomockBackend()


BACKENDS = {
    "sqlite": _sqlite,
    "memory": _memory,
    "pymongo": _pymongo,
    "motor": _motor,
    "mongomock": _mongomock,
}


def pytest_collection_modifyitems(items):
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        reason = MONGOMOCK_DEVIATES.get(getattr(item, "originalname", ""))
        if params.get("backend") == "mongomock" and reason:
            item.add_marker(pytest.mark.skip(reason=f"mongomock: {reason}"))


@pytest.fixture(params=BACKENDS)
def backend(request) -> Backend:
    return BACKENDS[request.param](request)


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def store(io_loop, backend, clock) -> Iterator[Store]:
    store = backend.make(clock)
    io_loop.run_sync(lambda: store.open(records.ALL))
    yield store
    io_loop.run_sync(store.close, timeout=30)


@pytest.fixture
def shared(backend) -> Backend:
    if not backend.is_shared:
        pytest.skip("only one process can open it")
    return backend


@pytest.fixture
def sqlite(io_loop, tmp_path, clock) -> Iterator[SqliteStore]:
    """The SQLite store alone, for what only it does."""
    store = SqliteStore(tmp_path / "db.sqlite3", now=clock.now, new_id=lambda: uuid.uuid4().hex)
    io_loop.run_sync(lambda: store.open(records.ALL))
    yield store
    io_loop.run_sync(store.close, timeout=30)


@pytest.fixture
def second_process(shared):
    """`async with second_process() as ask`: a process with the same store that does what it is
    asked, see `worker.py`."""

    @asynccontextmanager
    async def started():
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.storage.worker", shared.url),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )

        async def ask(line: str) -> str:
            process.stdin.write(f"{line}\n".encode())
            return (await process.stdout.readline()).decode().strip()

        try:
            assert await ask("ready") == "ready"
            yield ask
        finally:
            process.stdin.close()
            await process.wait()

    return started
