"""A program whose stderr is closed, or can't be written, does everything else."""

from __future__ import annotations

import os
import signal
import socket

import httpx
import pytest

from tests.support.program import Program, eventually, is_alive


class Redirected(Program):
    """A program that a shell starts with a redirection."""

    redirection = ""

    def _open(self, arguments, variables):
        script = f'exec "$@" {self.redirection}'
        super()._open(["/bin/sh", "-c", script, "sh", *arguments], variables)


@pytest.fixture
def redirected(tmp_path):
    started = []

    def start(redirection, *flags, **options):
        program = Redirected(tmp_path, *flags, **options)
        started.append(program)
        program.redirection = redirection
        return program

    yield start
    for program in started:
        program.kill()


def is_answered(program):
    """Whether a request is; each leaves a line in the access log."""
    try:
        return httpx.get(f"{program.issuer}/readyz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize(
    "redirection",
    [
        pytest.param("2>&-", id="closed", marks=pytest.mark.deep),
        pytest.param("2>/dev/full", id="full"),
    ],
)
def test_without_a_stderr_requests_are_answered_and_a_worker_is_replaced(redirected, redirection):
    program = redirected(redirection, "--processes", "2").start()
    answered = [is_answered(program) for _ in range(20)]
    killed, other = program.workers()
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: len({*program.workers()} - {killed}) == 2, "the replacement", 30)
    eventually(lambda: is_answered(program), "an answer", 30)
    program.signal()

    assert all(answered)
    assert program.wait() == 0
    assert not is_alive(other)


@pytest.mark.deep
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_the_banner_of_a_start_may_be_lost(redirected, redirection):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    program = redirected(redirection, "--port", str(port), as_json=False).spawn()
    program.announcement = {"issuer": f"http://localhost:{port}"}
    eventually(lambda: is_answered(program), "an answer", 30)
    program.signal()

    assert program.wait() == 0


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"], ids=["closed", "full"])
def test_an_error_has_its_exit_code_without_a_stderr(redirected, redirection):
    program = redirected(redirection, "--config", "nowhere.toml").spawn()

    assert program.wait() == 2
