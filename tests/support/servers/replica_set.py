"""MongoDB servers on loopback as processes of one's own, alone or as a replica set."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeVar

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from tests.support.patience import SECONDS

T = TypeVar("T")

SET_NAME: Final = "rs0"
START_SECONDS: Final = SECONDS
STOP_SECONDS: Final = 30.0
START_ATTEMPTS: Final = 5

# The kernel ends the server when the test process dies, however it dies (PR_SET_PDEATHSIG is 1).
# A small program sets that and becomes the server, because a preexec_fn is unsafe with threads.
DIE_WITH_PARENT: Final = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""

_OPTIONS: Final = (
    *("--bind_ip", "127.0.0.1", "--nounixsocket"),
    *("--setParameter", "enableTestCommands=1"),
    *("--setParameter", "transactionLifetimeLimitSeconds=5"),
    *("--setParameter", "diagnosticDataCollectionEnabled=false"),
)
# Enough for what tests store, where many servers run on one machine.
_LITTLE_ROOM: Final = ("--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "128")


class Member:
    """One mongod process with its own directory, stopped by its own process id.

    One that `takes_room` keeps as much in memory as it does where nobody tells it otherwise.
    """

    def __init__(
        self, binary: Path, directory: Path, *, set_name: str | None, takes_room: bool = False
    ) -> None:
        self._binary = binary
        self._directory = directory
        self._set_name = set_name
        self._options = _OPTIONS if takes_room else (*_OPTIONS, *_LITTLE_ROOM)
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
        """Requests its end, then kills it."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process = None

    def kill(self) -> None:
        """Ends it immediately, as a power failure would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """Suspends it: its connections stay open without answers."""
        if self.process is not None:
            self.process.send_signal(signal.SIGSTOP)
            # Until then one of its threads may still answer.
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)

    def step_down(self) -> None:
        """Makes the primary a secondary for a while, once another member has caught up."""
        with closing(self.client()) as client:
            client.admin.command("replSetStepDown", 10, secondaryCatchUpPeriodSecs=5)

    def client(self) -> MongoClient[dict[str, Any]]:
        """A connection to this member alone; the caller closes it."""
        return connected(
            f"mongodb://{self.address}/", directConnection=True, serverSelectionTimeoutMS=1000
        )

    def _spawn(self) -> subprocess.Popen[bytes]:
        self._directory.mkdir(exist_ok=True)
        parent = [sys.executable, "-S", "-c", DIE_WITH_PARENT, str(os.getpid())]
        server = [str(self._binary), "--port", str(self.port), "--dbpath", str(self._directory)]
        server += [*self._options, "--logpath", str(self._log)]
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

    def term(self) -> int:
        """How many elections there have been."""
        with closing(self.primary().client()) as client:
            return int(client.admin.command("replSetGetStatus")["term"])

    def mend(self) -> None:
        """Start and resume every member, and wait until all of them serve."""
        for member in self.members:
            # The kernel ends a server with the thread that started it.
            if member.process is None or member.process.poll() is not None:
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


def connected(url: str, **options: Any) -> MongoClient[dict[str, Any]]:
    # Polling takes one connection and thread less, and leaves nothing behind when it ends.
    return MongoClient(url, serverMonitoringMode="poll", **options)


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
