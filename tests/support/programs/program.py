"""The running program: `python -m idp serve` as a process, in a directory of its own.

Fixtures::

    start_program   starts one in the test's temporary directory; SIGTERM and exit 0 at the end
    open_browser    a browser at a program

A program, its supervisor included, dies with the test process, and its workers with it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from tests.support.browsers.visitor import Visitor
from tests.support.patience import SECONDS, eventually
from tests.support.protocol.relying_party import RelyingParty
from tests.support.servers.replica_set import DIE_WITH_PARENT

BARE: Final = Path(__file__).parent / "bare"
MISHAPS: Final = ("Traceback", "Warning", "Exception ignored", "was never awaited")


class Program:
    """One `idp serve`. `announcement` is its JSON line, `output` and `errors` what it printed so
    far. `redirection` is one of a shell, such as `2>/dev/full`."""

    def __init__(
        self,
        directory: Path,
        *flags: str,
        as_json: bool = True,
        module: str = "idp",
        redirection: str = "",
        **settings,
    ) -> None:
        self.directory = directory
        self.module = module
        self.redirection = redirection
        self.flags = [*(["--json"] if as_json else []), "--port", "0", *flags]
        # Only a text log has a banner.
        log_format = {} if as_json else {"IDP_LOG_FORMAT": "text"}
        self.environment = log_format | {name: str(value) for name, value in settings.items()}
        self.announcement: dict[str, Any] = {}
        self.output: list[str] = []
        self.errors: list[str] = []
        self.passed_descriptors: tuple[int, ...] = ()
        self._as_json = as_json
        self._news = threading.Condition()
        self._readers: list[threading.Thread] = []
        self.process: subprocess.Popen[str]

    def spawn(self) -> Program:
        """Starts it without waiting."""
        self._open(
            command("serve", *self.flags, module=self.module), environment(**self.environment)
        )
        return self

    def start(self) -> Program:
        """Starts it and waits until it announces that it serves."""
        self.spawn()
        if self._as_json:
            self.wait_for(lambda: bool(self.output), "its JSON line")
            self.announcement = json.loads(self.output[0])
        else:
            self.wait_for(lambda: any("curl " in line for line in self.errors), "its banner")
        return self

    @property
    def issuer(self) -> str:
        return self.announcement["issuer"]

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def port(self) -> int:
        """The port that it listens on, which may differ from that of its issuer."""
        return urlsplit(self.issuer).port or listening_port(self.pid)

    @property
    def user(self) -> tuple[str, str]:
        """Login name and password of the demo user."""
        user = self.announcement["demo"]["user"]
        return user["loginName"], user["password"]

    def demo(self) -> RelyingParty:
        return demo_of(self.announcement)

    def workers(self) -> list[int]:
        """The process ids of its living children."""
        return children(self.pid)

    def wait_for(self, what: Callable[[], bool], name: str, seconds: float = SECONDS):
        """Returns when `what` is true; it is called after every line and ten times a second."""
        deadline = time.monotonic() + seconds
        with self._news:
            while not what():
                is_over = self.process.poll() is not None and not any(
                    reader.is_alive() for reader in self._readers
                )
                if is_over and not what():
                    raise AssertionError(f"ended before {name}: {self.printed}")
                if time.monotonic() > deadline:
                    raise AssertionError(f"no {name} after {seconds} s: {self.printed}")
                self._news.wait(0.1)

    def signal(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def wait(self, seconds: float = SECONDS) -> int:
        """Its exit code, once it has ended and all that it printed was read."""
        code = self.process.wait(seconds)
        for reader in self._readers:
            reader.join(seconds)
        return code

    def stop(self) -> None:
        """Sends SIGTERM, and checks that it drains, ends with 0, leaves no process and printed no
        failure."""
        workers = self.workers()
        self.signal()
        assert self.wait() == 0, self.printed
        assert not [pid for pid in workers if is_alive(pid)]
        assert not [word for word in MISHAPS if word in self.printed], self.printed

    def kill(self) -> None:
        """Ends it and its workers immediately, as a power failure would."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()

    @property
    def printed(self) -> str:
        return "".join(self.output + self.errors)

    def _open(self, arguments: list[str], variables: dict[str, str]) -> None:
        if self.redirection:
            script = f'exec "$@" {self.redirection}'
            arguments = ["/bin/sh", "-c", script, "sh", *arguments]
        self.process = subprocess.Popen(
            arguments,
            cwd=self.directory,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            pass_fds=self.passed_descriptors,
        )
        for pipe, lines in (
            (self.process.stdout, self.output),
            (self.process.stderr, self.errors),
        ):
            reader = threading.Thread(target=self._read, args=(pipe, lines), daemon=True)
            reader.start()
            self._readers.append(reader)

    def _read(self, pipe, lines: list[str]) -> None:
        with pipe:
            for line in pipe:
                with self._news:
                    lines.append(line)
                    self._news.notify_all()
        with self._news:
            self._news.notify_all()


def command(*arguments: str, module: str = "idp") -> list[str]:
    """The program's command line; it ends with this process."""
    python = [sys.executable, "-P", "-W", "error", "-m", module]
    return [sys.executable, "-S", "-c", DIE_WITH_PARENT, str(os.getpid()), *python, *arguments]


def run(
    directory: Path, *arguments: str, seconds: float = SECONDS, **settings
) -> subprocess.CompletedProcess[str]:
    """Runs a command of the program to its end."""
    return subprocess.run(
        command(*arguments),
        cwd=directory,
        env=environment(**settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
    )


def environment(**settings: object) -> dict[str, str]:
    """This process's environment with no settings but these.

    Python may keep what it compiled, or each start would compile the whole program. Packages that
    only tests bring, and that libraries load where they find them, are not there.
    """
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("IDP_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    variables["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(BARE), variables.get("PYTHONPATH")])
    )
    return variables | {name: str(value) for name, value in settings.items()}


def demo_of(announcement: dict[str, Any]) -> RelyingParty:
    """The demo application of an announcement."""
    demo = announcement["demo"]
    return RelyingParty(
        announcement["issuer"],
        demo["clientId"],
        demo["clientSecret"],
        demo["redirectUri"],
        demo["postLogoutRedirectUri"],
    )


def children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def sockets(pid: int) -> set[str]:
    """The inodes of the sockets that a process has open."""
    found = set()
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            target = os.readlink(one)
            if target.startswith("socket:["):
                found.add(target[8:-1])
    return found


def listening_port(pid: int) -> int:
    """The first TCP port on which a process listens (see proc(5), net/tcp)."""
    ours = sockets(pid)
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in ours:
            return int(fields[1].rpartition(":")[2], 16)
    raise AssertionError(f"process {pid} does not listen")


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def stop_running(*pids: int) -> None:
    """SIGSTOP, and wait until all their threads stand still: a signal that ends a process would
    else overtake it."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    eventually(lambda: all(map(_stands_still, pids)), "standstill")


def _stands_still(pid: int) -> bool:
    states = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/stat")]
    return {each.rpartition(")")[2].split()[0] for each in states} == {"T"}


def delayed(*pids: int) -> float:
    """The seconds for which processes were ready, and other programs had the processors."""
    waited = [Path(f"/proc/{pid}/schedstat").read_text().split()[1] for pid in pids]
    return sum(map(int, waited)) / 1e9


@pytest.fixture
def start_program(request, tmp_path) -> Iterator[Callable[..., Program]]:
    if "mongodb" in request.fixturenames:
        request.getfixturevalue("mongodb")  # so it is dropped after the programs have ended
    started: list[Program] = []

    def start(
        *flags: str, directory: Path = tmp_path, waits: bool = True, **options: Any
    ) -> Program:
        program = Program(directory, *flags, **options)
        started.append(program)
        return program.start() if waits else program.spawn()

    yield start
    try:
        for program in started:
            if program.process.poll() is None:
                program.stop()
    finally:
        for program in started:
            program.kill()


@pytest.fixture
def open_browser(io_loop) -> Iterator[Callable[..., Visitor]]:
    opened: list[Visitor] = []

    def open_one(program: Program, **client: Any) -> Visitor:
        opened.append(Visitor(program.issuer, **({"timeout": 60} | client)))
        return opened[-1]

    yield open_one
    for visitor in opened:
        io_loop.run_sync(visitor.close)
