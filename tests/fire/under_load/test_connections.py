"""Many connections that send nothing, or slowly: others are answered as if they were not there."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import time
from contextlib import ExitStack, suppress
from statistics import quantiles

import pytest

from tests.support.browsers.visitor import Visitor
from tests.support.programs.program import delayed
from tests.support.protocol.relying_party import RelyingParty

pytestmark = pytest.mark.load

LONGEST_SECONDS = 1
WATCHED_SECONDS = 12  # beyond first_request_seconds, when idle ones are closed
SLOW = 500
HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
FORM = (
    b"POST /oauth/v2/token HTTP/1.1\r\nHost: localhost:%d\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n\r\n"
)


@pytest.fixture
def limited(start_program, monkeypatch):
    """Starts a program that may have so many descriptors: softly, and at most."""
    spawn = subprocess.Popen

    def start(soft: int, hard: int):
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))}
        monkeypatch.setattr(subprocess, "Popen", lambda *a, **more: spawn(*a, **more, **limit))
        return start_program(IDP_LOG_LEVEL="warning")

    return start


@pytest.fixture
def room():
    """Descriptors for the connections of the test itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Timed:
    """How long the program took for each of several things, without what other programs took."""

    def __init__(self, program) -> None:
        self._program = program
        self.seconds: list[float] = []

    async def __call__(self, work):
        began, before = time.monotonic(), delayed(self._program.pid)
        found = await work
        waited = delayed(self._program.pid) - before
        self.seconds.append(time.monotonic() - began - waited)
        return found


async def is_ready(program) -> None:
    """A look at `/readyz` on a connection of its own."""
    visitor = Visitor(program.issuer)
    assert (await visitor.get("/readyz")).status == 200
    await visitor.close()


async def sign_in(program, party: RelyingParty) -> None:
    visitor = Visitor(program.issuer)
    assert await party.tokens(visitor, *program.user)
    await visitor.close()


async def closed_after(program, sent: bytes) -> float:
    """How long a connection stays open that sends this, and then one byte a second."""
    reader, writer = await asyncio.open_connection("127.0.0.1", program.port)
    began = time.monotonic()
    with suppress(ConnectionError):
        writer.write(sent)
        ended = asyncio.ensure_future(reader.read())
        while not ended.done():
            writer.write(b"x")
            await asyncio.wait([ended], timeout=1)
        await ended
    seconds = time.monotonic() - began
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    return seconds


@pytest.mark.parametrize(("soft", "hard", "idle"), [(256, 256, 300), (1024, 20_000, 5000)])
async def test_beside_idle_connections_a_sign_in_takes_less_than_a_second(
    limited, room, soft, hard, idle, record_property
):
    program = limited(soft, hard)
    party, ready, signed_in = program.demo(), Timed(program), Timed(program)
    with ExitStack() as stack:
        for _ in range(idle):
            _, writer = await asyncio.open_connection("127.0.0.1", program.port)
            stack.callback(writer.close)
        until = time.monotonic() + WATCHED_SECONDS
        while time.monotonic() < until:
            await ready(is_ready(program))
            await signed_in(sign_in(program, party))
    lines = len(program.errors)
    record_property(
        "counts",
        f"/readyz {max(ready.seconds):.2f}, a sign-in {max(signed_in.seconds):.2f}, {lines} lines",
    )

    assert max(ready.seconds) <= LONGEST_SECONDS
    assert max(signed_in.seconds) <= LONGEST_SECONDS
    assert lines <= 20


async def test_slow_requests_are_closed_in_time_and_hardly_delay_others(
    start_program, room, record_property
):
    program = start_program(IDP_LOG_LEVEL="warning")
    quiet, beside = Timed(program), Timed(program)
    for _ in range(200):
        await quiet(is_ready(program))
    heads = [asyncio.ensure_future(closed_after(program, HEAD)) for _ in range(SLOW)]
    forms = [
        asyncio.ensure_future(closed_after(program, FORM % program.port)) for _ in range(SLOW)
    ]
    while not all(each.done() for each in forms):
        await beside(is_ready(program))
        await asyncio.sleep(0.05)
    after_head, after_body = [await each for each in heads], [await each for each in forms]
    p99 = [quantiles(each.seconds, n=100)[98] for each in (quiet, beside)]
    record_property(
        "counts",
        f"heads closed after {min(after_head):.1f} to {max(after_head):.1f}, bodies after"
        f" {min(after_body):.1f} to {max(after_body):.1f}; others' p99 {1000 * p99[0]:.0f} ms,"
        f" beside them {1000 * p99[1]:.0f} ms",
    )

    assert 9 <= min(after_head) <= max(after_head) <= 13
    assert 29 <= min(after_body) <= max(after_body) <= 34
    assert max(beside.seconds) <= LONGEST_SECONDS
