"""The port: of services that start at the same moment, one gets it."""

from __future__ import annotations

import itertools
import os
import socket
import threading
from collections import Counter
from contextlib import ExitStack, closing, suppress

import pytest

from idp.foundation.errors import ConfigError
from idp.server.port import Port

STARTS = 4


# Not of the range from which the kernel takes ports for others; each process of tests has a part.
PORTS = itertools.cycle(range(20_000 + os.getpid() % 100 * 100, 20_100 + os.getpid() % 100 * 100))


def free_port():
    for number in PORTS:
        with closing(socket.socket()) as one, suppress(OSError):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", number))
            return number
    raise AssertionError


def starts_at_once(number, is_shared):
    """What becomes of several starts on one port, which begin at the same moment."""
    ready, outcomes = threading.Barrier(STARTS), Counter()

    def start(opened):
        ready.wait()
        try:
            opened.enter_context(closing(Port("127.0.0.1", number, is_shared=is_shared)))
            outcomes["reserved"] += 1
        except ConfigError as error:
            outcomes[str(error).partition(" can't be ")[2]] += 1

    with ExitStack() as opened:
        threads = [threading.Thread(target=start, args=(opened,)) for _ in range(STARTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return outcomes


@pytest.mark.promise("start: port")
@pytest.mark.parametrize(
    "rounds", [50, pytest.param(3_000, marks=pytest.mark.load)], ids=["some", "many"]
)
@pytest.mark.parametrize("is_shared", [True, False], ids=["shared", "one process"])
def test_of_services_that_start_at_the_same_moment_one_gets_the_port(is_shared, rounds):
    expected = {"reserved": 1, "listened on: Address already in use": STARTS - 1}

    for _ in range(rounds):
        outcomes = starts_at_once(free_port(), is_shared)
        while not outcomes["reserved"]:  # another program has taken the port meanwhile
            outcomes = starts_at_once(free_port(), is_shared)
        assert outcomes == expected


def test_workers_share_a_port_that_no_other_socket_can_listen_on():
    with ExitStack() as opened:
        port = opened.enter_context(closing(Port("127.0.0.1", 0, is_shared=True)))
        for _ in range(2):
            opened.enter_context(closing(port.worker_socket())).listen()
        joining = opened.enter_context(closing(socket.socket()))
        joining.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)

        with pytest.raises(OSError, match="already in use"):
            joining.bind(("127.0.0.1", port.number))

        assert opened.enter_context(socket.create_connection(("127.0.0.1", port.number)))
