"""The back ends that the contract suite runs over, each made by a factory.

A test that asks for `store` runs on every back end. One that asks for `shared` runs on those
that several processes can open.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pymongo.monitoring
import pytest

from storage import BACK_ENDS, Store, open_store
from storage.mongo import MongoStore
from storage.sqlite import SqliteStore
from tests.storage import records
from tests.storage.dictionary import DictionaryStore
from tests.storage.layers.layered import FilledStore, LayeredStore
from tests.storage.mongo.mongo_faults import faulty, lossy  # noqa: F401  fixtures
from tests.storage.observers import RecordingObserver
from tests.support import patience
from tests.support.clock import SteppingClock
from tests.support.suites.membership import params_of, row_values

# What can't be asked of a dictionary.
DICTIONARY_DEVIATES: dict[str, str] = {
    "test_get_many_over_collections_is_one_round_trip": "there are no commands to count",
    "test_it_is_one_round_trip": "there are no commands to count",
    "test_a_thousand_values_are_found_by_few_commands": "there are no commands to count",
}
# What is otherwise where two stores are asked.
OVERLAY_DEVIATES: dict[str, str] = {
    "test_get_many_over_collections_is_one_round_trip": "both stores are asked",
    "test_it_is_one_round_trip": "both stores are asked",
    "test_a_thousand_values_are_found_by_few_commands": "both stores are asked",
}
# What mongomock-motor does otherwise than MongoDB. It serves tests of the domain, not operators.
MONGOMOCK_DEVIATES: dict[str, str] = {
    "test_a_single_commit_gets_in_between": "nothing waits, so nothing gets in between",
    "test_get_many_over_collections_is_one_round_trip": "there are no commands to count",
    "test_it_is_one_round_trip": "there are no commands to count",
    "test_the_loop_turns_while_a_scan_finds_nothing": "nothing waits, so the loop does not turn",
    "test_what_would_grow_beyond_a_record_is_refused_alone": "it checks no sizes",
    "test_a_sum_beyond_64_bits_is_refused_alone": "it checks no sums",
    "test_a_thousand_values_are_found_by_few_commands": "there are no commands to count",
    "test_a_snapshot_finds_what_was_there": "no sessions, so no snapshots",
    "test_a_snapshot_is_one_state_while_writers_go_on": "no sessions, so no snapshots",
    "test_a_snapshot_never_shows_half_a_unit": "no sessions, so no snapshots",
    "test_two_snapshots_stand_side_by_side": "no sessions, so no snapshots",
}


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
    commands_to_follow = 1  # that read records with those that these name

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

    def commands_for(self, keys: int) -> int:
        """How many reading commands find so many at once."""
        return 1


class SqliteBackend(Backend):
    commands_to_follow = 2

    @contextmanager
    def counted(self, store: Store) -> Iterator[Callable[[], int]]:
        statements: list[str] = []
        connection = store._reader._connection
        connection.set_trace_callback(statements.append)
        yield lambda: len(statements)
        connection.set_trace_callback(None)

    def commands_for(self, keys: int) -> int:
        return -(-keys // 100)  # nobody is far away, and others have their turn between two


class ObservedBackend(SqliteBackend):
    """A temporary store whose calls are observed, as for metrics or traces."""

    is_shared = False

    def make(self, clock: SteppingClock) -> Store:
        observers = [RecordingObserver(), RecordingObserver()]
        return open_store(self.url, now=clock.now, new_id=self._new_id, observers=observers)

    def counted(self, store: Store) -> AbstractContextManager[Callable[[], int]]:
        return super().counted(store._store)


class MongomockBackend(Backend):
    """Its data is where its client is."""

    is_shared = False

    def make(self, clock: SteppingClock) -> Store:
        from mongomock_motor import AsyncMongoMockClient  # of the extra `test`

        client = AsyncMongoMockClient()
        return MongoStore(self.url, now=clock.now, new_id=self._new_id, client=client)


def _dictionary_store(url: str, **clock_and_ids: Any) -> Store:
    return DictionaryStore(**clock_and_ids)


class DictionaryBackend(Backend):
    """A back end of one module, made known by one line."""

    is_shared = False

    def make(self, clock: SteppingClock) -> Store:
        with pytest.MonkeyPatch.context() as patched:
            patched.setitem(BACK_ENDS, "dictionary", _dictionary_store)
            return super().make(clock)


class LayeredBackend(Backend):
    """An overlay, which goes when its process does."""

    is_shared = False

    def __init__(self, name: str, make: Callable[..., Store]) -> None:
        super().__init__(name, "memory://")
        self._make = make

    def make(self, clock: SteppingClock) -> Store:
        return self._make(now=clock.now, new_id=self._new_id)


def _sqlite(request) -> Backend:
    return SqliteBackend("sqlite", f"sqlite:///{request.getfixturevalue('tmp_path')}/db.sqlite3")


def _memory(request) -> Backend:
    return ObservedBackend("memory", "memory://")


def _pymongo(request) -> Backend:
    return Backend("pymongo", request.getfixturevalue("emptied_mongodb"))


def _motor(request) -> Backend:
    url = request.getfixturevalue("emptied_mongodb")
    return Backend("motor", url + ("&" if "?" in url else "?") + "driver=motor")


def _mongomock(request) -> Backend:
    return MongomockBackend("mongomock", "mongodb://mongomock/")


def _dictionary(request) -> Backend:
    return DictionaryBackend("dictionary", "dictionary://")


def _overlay(request) -> Backend:
    return LayeredBackend("overlay", LayeredStore)


def _overlay_filled(request) -> Backend:
    return LayeredBackend("overlay-filled", FilledStore)


BACKENDS = {
    "sqlite": _sqlite,
    "memory": _memory,
    "pymongo": _pymongo,
    "motor": _motor,
    "mongomock": _mongomock,
    "dictionary": _dictionary,
    "overlay": _overlay,
    "overlay-filled": _overlay_filled,
}
DEVIATIONS = {
    "mongomock": MONGOMOCK_DEVIATES,
    "dictionary": DICTIONARY_DEVIATES,
    "overlay": OVERLAY_DEVIATES,
    "overlay-filled": OVERLAY_DEVIATES
    | {
        "test_a_refused_unit_is_not": "a record that was taken over has a mark of that",
        "test_a_single_commit_gets_in_between": "what comes first is written below, alone",
    },
}


# By default motor is asked for what a driver does in its own way: transactions, cursors, waiting
# and ends. What is stored and found is one module's work for both drivers, and asked of pymongo.
NOT_THE_DRIVERS = {
    "test_each",
    "test_expiry",
    "test_filling",
    "test_harmless",
    "test_lists",
    "test_overlay",
    "test_upgrades",
    "test_values",
}


# What the domain asks of a store is asked of mongomock in one module: operators have MongoDB.
MONGOMOCKS = "test_units"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    items[:] = [
        item
        for item in items
        if "mongomock" not in row_values(item) or item.path.stem == MONGOMOCKS
    ]
    for item in items:
        backend = params_of(item).get("backend")
        if backend == "motor" and item.path.stem in NOT_THE_DRIVERS:
            item.add_marker(pytest.mark.load)
        reason = DEVIATIONS.get(backend, {}).get(getattr(item, "originalname", ""))
        if reason:
            item.add_marker(pytest.mark.skip(reason=f"{backend}: {reason}"))


@pytest.fixture(params=BACKENDS)
def backend(request) -> Backend:
    return BACKENDS[request.param](request)


@pytest.fixture
def clock(request) -> SteppingClock:
    """Beside a second process it has the machine's time, as that has."""
    is_shared = "second_process" in request.fixturenames
    return SteppingClock(datetime.now(UTC) if is_shared else None)


@pytest.fixture
def store(io_loop, backend, clock) -> Iterator[Store]:
    store = backend.make(clock)
    io_loop.run_sync(lambda: store.open(records.ALL))
    yield store
    io_loop.run_sync(store.close, timeout=patience.SECONDS)


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
    io_loop.run_sync(store.close, timeout=patience.SECONDS)


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
