"""Messages to the service manager, as systemd expects them (sd_notify(3))."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import closing

import pytest

from tests.support.program import eventually


class Manager:
    """A service manager's socket, and the messages that it has received."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.setblocking(False)
        self._received = []

    def messages(self):
        while True:
            try:
                self._received.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return list(self._received)

    def states(self):
        """The first line of each message but signs of life."""
        first = [message.partition("\n")[0] for message in self.messages()]
        return [line for line in first if line != "WATCHDOG=1"]

    def signs_of_life(self):
        return self.messages().count("WATCHDOG=1")

    def close(self):
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    path = str(tmp_path / "notify") if request.param == "path" else f"@idp-{os.getpid()}"
    with closing(Manager(path.replace("@", "\0"))) as made:
        made.address = path
        yield made


@pytest.mark.parametrize("processes", [1, 2])
def test_the_manager_learns_of_start_reload_and_stop_in_order(start_program, manager, processes):
    program = start_program("--processes", str(processes), NOTIFY_SOCKET=manager.address)
    assert eventually(lambda: manager.states() == ["READY=1"], "READY")
    program.signal(signal.SIGHUP)
    eventually(lambda: len(manager.states()) == 3, "the reload")
    program.signal()
    assert program.wait() == 0

    assert manager.states() == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"]
    (reloading,) = [each for each in manager.messages() if each.startswith("RELOADING")]
    moment = int(reloading.partition("MONOTONIC_USEC=")[2])
    assert 0 <= time.monotonic_ns() // 1000 - moment < 60_000_000


@pytest.mark.parametrize("processes", [1, 2])
def test_reloads_amid_start_and_stop_announce_nothing(start_program, manager, processes):
    options = {"NOTIFY_SOCKET": manager.address, "IDP_SHUTDOWN_DELAY_SECONDS": 1}
    program = start_program("--processes", str(processes), waits=False, **options)
    if processes > 1:
        eventually(program.workers, "the preparing process", 30)
        program.signal(signal.SIGHUP)
    program.wait_for(lambda: bool(program.output), "its JSON line")
    eventually(lambda: manager.states() == ["READY=1"], "READY")
    program.signal()
    eventually(lambda: manager.states() == ["READY=1", "STOPPING=1"], "STOPPING")
    program.signal(signal.SIGHUP)

    assert program.wait() == 0
    assert manager.states() == ["READY=1", "STOPPING=1"]


def test_signs_of_life_are_sent_where_they_are_expected(start_program, manager):
    start_program(NOTIFY_SOCKET=manager.address, WATCHDOG_USEC=400_000)

    eventually(lambda: manager.signs_of_life() > 5, "signs of life")


@pytest.mark.slow
def test_a_group_in_which_no_worker_runs_gives_no_sign_of_life(start_program, manager):
    options = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": 400_000}
    program = start_program("--processes", "2", **options)
    eventually(lambda: manager.signs_of_life() > 5, "signs of life")
    for pid in program.workers():
        os.kill(pid, signal.SIGSTOP)
    time.sleep(6)
    silent_at = manager.signs_of_life()
    time.sleep(1)

    assert manager.signs_of_life() == silent_at
    program.kill()


def test_without_a_manager_nothing_is_sent(start_program, tmp_path):
    program = start_program(NOTIFY_SOCKET=str(tmp_path / "nobody"))
    program.stop()

    assert program.errors == []
