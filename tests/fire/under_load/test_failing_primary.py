"""People sign in while the primary is lost: they may have to wait, and nobody is told wrongly."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing, suppress

import httpx
import pytest
from pymongo.errors import PyMongoError

from tests.flows.conftest import SETTINGS, at
from tests.flows.flows import person
from tests.support import invariants
from tests.support.browsers.visitor import Visitor
from tests.support.programs.program import Program
from tests.support.servers.mongod import fresh_database

AT_ONCE = 4
FLOWS_AFTERWARDS = 2  # of each person, begun when the primary was gone already
PATIENCE_SECONDS = 60
HANGS_SECONDS = 6


class Patience(httpx.AsyncBaseTransport):
    """Repeats what is answered by "try again", after as long as it says."""

    def __init__(self) -> None:
        self.waits = 0
        self._connections = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        ends = time.monotonic() + PATIENCE_SECONDS
        request.extensions["timeout"] = {"read": PATIENCE_SECONDS}
        while True:
            response = await self._connections.handle_async_request(request)
            if not is_busy(response) or time.monotonic() > ends:
                return response
            self.waits += 1
            await response.aclose()
            await asyncio.sleep(int(response.headers.get("Retry-After", "1")))

    async def aclose(self) -> None:
        await self._connections.aclose()


def is_busy(response: httpx.Response) -> bool:
    """A 503 that says when to come again; authorize tells the client in its own way."""
    if response.status_code == 503:
        return int(response.headers["Retry-After"]) > 0
    return "error=server_error" in response.headers.get("Location", "")


class Person:
    """Signs in again and again; counts the flows that have succeeded."""

    def __init__(self, place) -> None:
        self.place = place
        self.done: list[float] = []
        self.transport = Patience()

    async def live(self, until: asyncio.Event) -> None:
        party, somebody = await self.place.register(), await person(self.place)
        async with self.transport:
            browser = Visitor(self.place.issuer, transport=self.transport)
            while not until.is_set():
                began = time.monotonic()
                tokens = await party.tokens(browser, *somebody, prompt="login")
                for _ in range(2):
                    answer = await party.refresh(browser, tokens["refresh_token"])
                    assert answer.status == 200, answer.text
                    tokens = answer.json()
                answer = await party.userinfo(browser, tokens["access_token"])
                assert answer.status == 200, answer.text
                self.done.append(began)
            await browser.close()

    def done_since(self, instant: float) -> int:
        return sum(began > instant for began in self.done)


def kill(primary):
    primary.kill()


def hang(primary):
    """Long enough for an election: it comes back and takes itself for the only primary."""
    primary.pause()
    time.sleep(HANGS_SECONDS)
    primary.resume()


def stop(primary):
    """By SIGTERM, as an operator does it."""
    primary.stop()


def step_down(primary):
    with closing(primary.client()) as client, suppress(PyMongoError):
        client.admin.command("replSetStepDown", 10, force=True)


@pytest.fixture
def place(mongod_trio, tmp_path, io_loop):
    mongod_trio.mend()
    with fresh_database(mongod_trio.url) as url:
        program = Program(tmp_path, "--processes", "2", "--store", url, **SETTINGS).start()
        server = io_loop.run_sync(lambda: at(program))
        yield server
        mongod_trio.mend()
        print(*program.errors[-40:], sep="")  # shown if the test fails
        io_loop.run_sync(lambda: invariants.hold(server.store))
        io_loop.run_sync(server.store.close)
        program.stop()
        program.kill()


@pytest.mark.load
@pytest.mark.parametrize("fault", [kill, stop, hang, step_down], ids=lambda fault: fault.__name__)
async def test_sign_ins_outlast_their_primary(place, mongod_trio, fault, record_property):
    people, term = [Person(place) for _ in range(AT_ONCE)], mongod_trio.term()
    over = asyncio.Event()
    async with asyncio.TaskGroup() as living:
        for one in people:
            living.create_task(one.live(over))
        await eventually(lambda: all(one.done for one in people))
        at_fault = time.monotonic()
        await asyncio.to_thread(fault, mongod_trio.primary())
        await eventually(
            lambda: all(one.done_since(at_fault) >= FLOWS_AFTERWARDS for one in people)
        )
        lasted = time.monotonic() - at_fault
        over.set()

    flows, waits = sum(len(one.done) for one in people), sum(one.transport.waits for one in people)
    record_property(
        "counts", f"{flows} flows, all succeeded; {waits} answers of 503; over in {lasted:.1f} s"
    )
    assert await asyncio.to_thread(mongod_trio.term) > term, "nobody lost a primary"


async def eventually(what) -> None:
    ends = time.monotonic() + 2 * PATIENCE_SECONDS
    while not what():
        assert time.monotonic() < ends, "nobody gets in any more"
        await asyncio.sleep(0.05)
