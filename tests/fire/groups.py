"""Two groups of two processes over one store, behind haproxy as the documents recommend it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import httpx

from tests.fire.ground import free_port
from tests.flows.conftest import SETTINGS, at
from tests.support import invariants
from tests.support.programs.program import (
    MISHAPS,
    Program,
    eventually,
    is_alive,
    listening_port,
)
from tests.support.servers.haproxy import Haproxy
from tests.support.service import Server

PROCESSES = 2


class Groups:
    """`place` is the service behind the balancer; `groups` are its two supervisors.

    On SQLite both groups open one file, on MongoDB one database. `redirection` is that of each
    group's `Program`.
    """

    def __init__(self, directory: Path, *flags: str, redirection: str = "", **settings) -> None:
        self.directory = directory
        self.issuer = f"http://localhost:{free_port()}"
        self.groups: list[Program] = []
        self.ports: list[int] = []
        self.place: Server
        self._balancer: Haproxy | None = None
        self._ended: list[Program] = []
        self._flags = ["--processes", str(PROCESSES), "--issuer", self.issuer, *flags]
        self._redirection = redirection
        self._settings = SETTINGS | {"IDP_TRUSTED_PROXIES": "127.0.0.1"} | settings

    async def start(self) -> None:
        """Start both groups, one after the other, and then the balancer."""
        for _ in range(2):
            self.groups.append(self._started(0))
            # Where metrics are served, the first child serves them.
            self.ports.append(listening_port(self.groups[-1].workers()[-1]))
        names = {f"group{n}": port for n, port in enumerate(self.ports, 1)}
        self._balancer = Haproxy(self.directory, int(self.issuer.rpartition(":")[2]), names)
        eventually(self.is_ready, "an answer through the balancer")
        self.place = await at(self.groups[0])

    def restart(self, n: int) -> None:
        """Start a group that has ended, on the port where it was."""
        self._ended.append(self.groups[n])
        self.groups[n] = self._started(self.ports[n])

    def is_ready(self) -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.issuer}/readyz").status_code == 200
        return False

    def is_whole(self, n: int) -> bool:
        """Whether every worker of a group listens, on a socket of its own (proc(5), net/tcp)."""
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        end = f":{self.ports[n]:04X}"
        return sum(each[3] == "0A" and each[1].endswith(end) for each in lines) == PROCESSES

    @property
    def store_url(self) -> str:
        return self.groups[0].announcement["store"]

    @property
    def token(self) -> str:
        """A personal access token of the first administrator."""
        return (
            self.groups[0].announcement.get("adminPat") or self._ended[0].announcement["adminPat"]
        )

    @property
    def printed(self) -> str:
        return "".join(each.printed for each in [*self._ended, *self.groups])

    async def check(self) -> None:
        """Nothing odd was printed, and the store is sound."""
        printed = self.printed
        for word in MISHAPS:
            at = printed.find(word)
            assert at < 0, printed[max(0, at - 1000) : at + 3000]
        await invariants.hold(self.place.store)

    async def close(self) -> None:
        if self._balancer is not None:
            self._balancer.close()
        if hasattr(self, "place"):
            await self.place.store.close()
        for program in [*self._ended, *self.groups]:
            program.kill()

    def _started(self, port: int) -> Program:
        flags = ("--admin-pat", "pat") if not self.groups else ()
        flags = (*self._flags, "--port", str(port), *flags)
        options = {"redirection": self._redirection, **self._settings}
        return Program(self.directory, *flags, **options).start()


def send(number: signal.Signals, *pids: int) -> None:
    for pid in pids:
        os.kill(pid, number)


def have_ended(*pids: int) -> bool:
    return not any(map(is_alive, pids))
