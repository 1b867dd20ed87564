"""A port on which the service manager listens (sd_listen_fds(3)): restarts refuse nothing."""

from __future__ import annotations

import asyncio
import socket
import sys

import httpx
import pytest

from tests.support import patience
from tests.support.programs.program import Program, command, environment

pytestmark = pytest.mark.full

# Becomes the program with the socket as descriptor 3, as systemd does.
EXEC = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
"""


ASKING = 8  # clients at once


class Activated(Program):
    """The program with a listening socket that this process holds as well."""

    def __init__(self, directory, listening, *flags, sockets=1, **settings) -> None:
        super().__init__(directory, "--port", str(listening.getsockname()[1]), *flags, **settings)
        self.listening, self.sockets = listening, sockets

    def spawn(self):
        whole = command("serve", *self.flags)
        at = whole.index("-m") - 4  # before Python and its options
        descriptor = str(self.listening.fileno())
        wrapped = [*whole[:at], sys.executable, "-S", "-c", EXEC, descriptor, *whole[at:]]
        self.passed_descriptors = (self.listening.fileno(),)
        self._open(wrapped, environment(**self.environment, LISTEN_FDS=self.sockets))
        return self


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0), backlog=128) as made:
        yield made


@pytest.fixture
def activated(tmp_path, listening):
    """Makes programs that end with the test."""
    made = []

    def make(*flags, **options):
        made.append(Activated(tmp_path, listening, *flags, **options))
        return made[-1]

    yield make
    for program in made:
        program.kill()


@pytest.mark.parametrize("processes", ["1", "2"])
async def test_connections_wait_while_the_service_restarts(activated, listening, processes):
    program = activated("--processes", processes).start()
    ends = asyncio.Event()
    asking = asyncio.gather(*[statuses(program.issuer, ends) for _ in range(ASKING)])
    for _ in range(2):
        await asyncio.to_thread(program.stop)
        program = activated("--processes", processes)
        await asyncio.to_thread(program.start)
    ends.set()
    found = await asking
    program.stop()

    assert {status for each in found for status in each} == {200}
    assert sum(map(len, found)) > ASKING


async def statuses(issuer, ends):
    """What requests on connections of their own are answered, one after the other."""
    found = []
    while not ends.is_set():
        async with httpx.AsyncClient(timeout=patience.SECONDS) as client:
            found.append((await client.get(f"{issuer}/oauth/v2/keys")).status_code)
    return found


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_hung_or_ended_service_leaves_the_managers_socket_listening(
    activated, listening, processes
):
    program = activated("--processes", processes).start()
    program.kill()

    with socket.create_connection(listening.getsockname(), patience.SECONDS):
        pass


def test_another_address_than_that_of_the_settings_is_refused(activated):
    program = activated("--host", "127.0.0.2").spawn()

    assert program.wait() == 2
    assert "let both be the same" in program.printed


def test_several_sockets_are_refused(activated):
    program = activated(sockets=2).spawn()

    assert program.wait() == 2
    assert "the service manager passes 2 sockets: name one ListenStream" in program.printed
