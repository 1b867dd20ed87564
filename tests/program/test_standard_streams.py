"""A program whose stderr is closed, or can't be written, does everything else."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress

import httpx
import pytest

from tests.support import patience
from tests.support.programs.program import eventually, is_alive


def is_answered(program):
    """Whether a request is; each leaves a line in the access log."""
    try:
        return httpx.get(f"{program.issuer}/oauth/v2/keys").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize(
    "redirection",
    [
        pytest.param("2>&-", id="closed", marks=pytest.mark.load),
        pytest.param("2>/dev/full", id="full"),
    ],
)
def test_without_a_stderr_requests_are_answered_and_a_worker_is_replaced(
    start_program, redirection
):
    program = start_program("--processes", "2", redirection=redirection)
    answered = [is_answered(program) for _ in range(20)]
    killed, other = program.workers()
    os.kill(killed, signal.SIGKILL)
    eventually(
        lambda: len({*program.workers()} - {killed}) == 2, "the replacement", patience.SECONDS
    )
    eventually(lambda: is_answered(program), "an answer")
    program.signal()

    assert all(answered)
    assert program.wait() == 0
    assert not is_alive(other)


def test_without_a_reader_of_stderr_requests_are_answered_and_lost_lines_are_counted(
    start_program, tmp_path
):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    program = start_program("--processes", "2", redirection="2>pipe")
    fill(tmp_path / "pipe")
    began = time.monotonic()
    answered = [is_answered(program) for _ in range(20)]
    took = time.monotonic() - began
    seen = read(reader)
    eventually(lambda: "log lines were lost" in (seen + read(reader)), "word of it")
    program.signal()

    assert all(answered)
    assert took < 10
    assert program.wait() == 0
    os.close(reader)


def fill(pipe):
    """Leave no room in a named pipe."""
    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    for size in (4096, 1):
        with suppress(BlockingIOError):
            while True:
                os.write(writer, b" " * size)
    os.close(writer)


def read(reader):
    found = b""
    with suppress(BlockingIOError):
        while part := os.read(reader, 65536):
            found += part
    return found.decode()


@pytest.mark.load
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_the_banner_of_a_start_may_be_lost(start_program, redirection):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    program = start_program(
        "--port", str(port), as_json=False, waits=False, redirection=redirection
    )
    program.announcement = {"issuer": f"http://localhost:{port}"}
    eventually(lambda: is_answered(program), "an answer")
    program.signal()

    assert program.wait() == 0


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"], ids=["closed", "full"])
def test_an_error_has_its_exit_code_without_a_stderr(start_program, redirection):
    program = start_program("--config", "nowhere.toml", waits=False, redirection=redirection)

    assert program.wait() == 2
