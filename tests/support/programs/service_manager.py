"""A service manager: the socket to which a service reports its state (sd_notify(3))."""

from __future__ import annotations

import os
import socket
from contextlib import closing

import pytest


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


@pytest.fixture(name="manager", params=["path", "abstract"])
def service_manager(request, tmp_path):
    path = str(tmp_path / "notify") if request.param == "path" else f"@idp-{os.getpid()}"
    with closing(Manager(path.replace("@", "\0"))) as made:
        made.address = path
        yield made
