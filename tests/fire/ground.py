"""An installation whose process is killed and started again, on one port."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

from tests.flows.conftest import SETTINGS, at
from tests.support import invariants
from tests.support.browsers.visitor import Visitor
from tests.support.programs.crashing import CRASH_VARIABLE
from tests.support.programs.program import MISHAPS, Program
from tests.support.service import Server

ROOT = Path(__file__).parents[2]
# Below what the system gives to those who ask for any port, so that nobody takes it meanwhile.
PORTS = range(20_000, 30_000)


class Ground:
    """`place` is what the flows of `tests.flows` call so; `secrets` is what was handed out."""

    def __init__(self, directory: Path, *flags: str) -> None:
        self.directory = directory
        self.flags = ["--port", str(free_port()), *flags]
        self.kills = 0
        self.secrets: set[str] = set()
        self.place: Server
        self.program: Program
        self._plan = directory / "crash"
        self._started: list[Program] = []
        self._browsers: list[Visitor] = []

    async def start(self) -> None:
        """Start the program and wait until it serves."""
        self._new_program().start()
        if not hasattr(self, "place"):
            self.place = await at(self.program)
            told = self.place.start
            self.secrets |= {told.admin.password, told.demo.password, told.demo.client_secret}

    def dies_while_starting(self) -> bool:
        """Start the program; whether it has died before it could say that it serves."""
        program = self._new_program().spawn()
        program.wait_for(lambda: program.output or program.process.poll() is not None, "its end")
        return not program.output

    def _new_program(self) -> Program:
        self.program = Program(
            self.directory,
            *self.flags,
            module="tests.fire.program",
            PYTHONPATH=ROOT,
            **{CRASH_VARIABLE: self._plan},
            **SETTINGS,
        )
        self._started.append(self.program)
        return self.program

    def arm(self, crash: str) -> None:
        """The process will die at `crash`, "before N" or "after N" of its next writes."""
        draft = self._plan.with_suffix(".draft")
        draft.write_text(crash)
        draft.replace(self._plan)

    def disarm(self) -> None:
        self._plan.unlink(missing_ok=True)

    def bury(self) -> None:
        """The process has died by its own hand, and had said nothing odd."""
        assert self.program.wait() == -signal.SIGKILL, self.program.printed
        assert not [word for word in MISHAPS if word in self.program.printed], self.program.printed
        self.disarm()
        self.kills += 1

    async def check(self) -> None:
        await invariants.hold(self.place.store, secrets=self.secrets)

    def check_files(self) -> None:
        invariants.files_are_whole(self.program.announcement["store"], secrets=self.secrets)

    def browser(self, **client) -> Visitor:
        self._browsers.append(Visitor(self.place.issuer, **client))
        return self._browsers[-1]

    async def close(self) -> None:
        for browser in self._browsers:
            await browser.close()
        if hasattr(self, "place"):
            await self.place.store.close()
        for program in self._started:
            program.kill()


def free_port() -> int:
    """A port on which nobody listens; test processes side by side look in other places."""
    begin = os.getpid() * 37
    for n in range(len(PORTS)):
        port = PORTS[(begin + n) % len(PORTS)]
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")
