"""Many connections: idle ones make room, and none that has sent a request is lost."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import time
from contextlib import ExitStack

import httpx
import pytest

from tests.support import patience
from tests.support.programs.program import eventually

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(program, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", program.port), 10, source_address=(source, 0))


def is_open(connection):
    """Whether a connection answers a request."""
    try:
        connection.sendall(HEAD)
        return connection.recv(4096).startswith(b"HTTP/1.1 200")
    except ConnectionError:
        return False


def is_closed(connection):
    """Whether the service has closed a connection."""
    connection.settimeout(0.01)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.fixture
def stack():
    with ExitStack() as opened:
        yield opened


def lines(program, event):
    logged = [json.loads(line) for line in program.errors if line.startswith("{")]
    return [line for line in logged if line["event"] == event]


def test_a_connection_without_a_request_is_closed_after_its_time(start_program, stack):
    program = start_program(IDP_FIRST_REQUEST_SECONDS=1)
    silent, slow, kept = (stack.enter_context(connect(program)) for _ in range(3))
    slow.sendall(HEAD[:20])
    assert is_open(kept)

    eventually(lambda: is_closed(silent) and is_closed(slow), "their end")
    kept.settimeout(patience.SECONDS)
    assert is_open(kept)


def test_the_client_that_holds_most_makes_room_with_its_longest_idle_connection(
    start_program, stack
):
    program = start_program(IDP_MAX_CONNECTIONS=64)
    guest = stack.enter_context(connect(program, "127.0.0.2"))
    assert is_open(guest)
    many = [stack.enter_context(connect(program)) for _ in range(63)]
    assert all(map(is_open, many))

    others = [stack.enter_context(connect(program, "127.0.0.3")) for _ in range(3)]

    assert all(map(is_open, others))
    eventually(lambda: [is_closed(each) for each in many[:4]] == [True] * 3 + [False], "room")
    guest.settimeout(patience.SECONDS)
    assert is_open(guest)


def starved(program, source):
    """Whether a new client gets no answer."""
    with connect(program, source) as connection:
        return not is_open(connection)


def test_one_client_that_sends_no_bodies_keeps_nobody_out(start_program, stack):
    program = start_program(IDP_MAX_CONNECTIONS=64)
    many = [stack.enter_context(connect(program)) for _ in range(64)]
    host = f"localhost:{program.port}"
    for each in many:
        form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 50"
        each.sendall(f"POST /oauth/v2/token HTTP/1.1\r\nHost: {host}\r\n{form}\r\n\r\n".encode())
    time.sleep(0.5)

    assert [starved(program, "127.0.0.2") for _ in range(3)] == [False] * 3


def test_one_client_that_reads_no_answers_keeps_nobody_out(start_program, stack):
    program = start_program(IDP_MAX_CONNECTIONS=64)
    request = f"GET /openapi.json HTTP/1.1\r\nHost: localhost:{program.port}\r\n\r\n".encode()
    for _ in range(64):
        greedy = stack.enter_context(socket.socket())
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        greedy.connect(("127.0.0.1", program.port))
        greedy.sendall(request * 8)

    def is_served():
        return not any(starved(program, "127.0.0.2") for _ in range(3))

    assert eventually(is_served, "an answer")  # once no answer is being made


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))


def test_a_service_without_descriptors_left_goes_on(start_program, stack, monkeypatch):
    spawn = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *a, **more: spawn(*a, **more, preexec_fn=few_descriptors)
    )
    program = start_program()
    idle = [stack.enter_context(connect(program)) for _ in range(300)]
    started = time.monotonic()
    for _ in range(20):
        answer = httpx.get(f"{program.issuer}/readyz", timeout=patience.SECONDS)
        assert answer.status_code == 200

    assert time.monotonic() - started < 20
    assert eventually(lambda: sum(map(is_closed, idle)) > 100, "room")
    assert len(lines(program, "no file descriptors left")) <= 3
    assert "Traceback" not in program.printed


def test_the_soft_limit_of_descriptors_is_raised_to_the_hard_one(start_program, monkeypatch):
    spawn = subprocess.Popen
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 3000))}
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **more: spawn(*a, **more, **limit))
    program = start_program()

    assert resource.prlimit(program.pid, resource.RLIMIT_NOFILE) == (3000, 3000)
