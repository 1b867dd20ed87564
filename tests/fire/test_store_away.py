"""The store is away for a while: requests are refused with a time at which to ask again."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from storage.sqlite.locks import FileLock
from tests.fire.groups import Groups
from tests.fire.load import Asked, Load, longest, refused
from tests.fire.run import NO_REUSE
from tests.flows.flows import person
from tests.support.mongod import fresh_database
from tests.support.visitor import Visitor

LONGEST_SECONDS = 8  # for any answer
RECOVERS_SECONDS = 20
BEFORE_SECONDS = 2


async def away(trio) -> None:
    """Every member hangs, and comes back."""
    for member in trio.members:
        member.pause()
    await asyncio.sleep(15)
    for member in trio.members:
        member.resume()


async def frozen(trio) -> None:
    """The primary hangs, and comes back when another one is elected."""
    primary = await asyncio.to_thread(trio.primary)
    primary.pause()
    await asyncio.sleep(20)
    primary.resume()


async def alone(trio) -> None:
    """Two of three members are killed, and started again."""
    primary = await asyncio.to_thread(trio.primary)
    others = [member for member in trio.members if member is not primary]
    for member in others:
        member.kill()
    await asyncio.sleep(12)
    for member in others:
        await asyncio.to_thread(member.start)


async def written(file) -> None:
    """Another program has a transaction that writes."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=30)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        await asyncio.sleep(15)
        connection.execute("ROLLBACK")


async def locked(file) -> None:
    """A process that has its turn at writing hangs."""
    lock = FileLock(f"{file}-lock")
    with closing(lock), lock.held():
        await asyncio.sleep(15)


class Application:
    """Sends browsers to the authorization endpoint, with and without `prompt=none`."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.errors: set[str] = set()

    async def sign_in(self, place) -> None:
        """Have somebody signed in, whom the application then asks for."""
        self._party, browser = await place.register(), Visitor(place.issuer)
        await self._party.tokens(browser, *await person(place))
        self._cookies = dict(browser.cookies)
        await browser.close()

    async def ask_until(self, over: asyncio.Event) -> None:
        async with httpx.AsyncClient(limits=NO_REUSE, timeout=60) as http:
            while not over.is_set():
                await self._ask(http, self._party.authorize_url(prompt="none"), self._cookies)
                await self._ask(http, self._party.authorize_url(), {})
                await asyncio.sleep(0.05)

    async def _ask(self, http: httpx.AsyncClient, url: str, cookies: dict) -> None:
        began = time.monotonic()
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        answer = await http.get(url, headers=headers)
        self.waits.append(time.monotonic() - began)
        assert answer.status_code in (303, 503), answer.text
        query = parse_qs(urlsplit(answer.headers.get("Location", "")).query)
        self.errors |= set(query.get("error", ()))


@pytest.fixture
def on_mongodb(mongod_trio, tmp_path, io_loop):
    mongod_trio.mend()
    with fresh_database(mongod_trio.url) as url:
        made = Groups(tmp_path, "--store", url)
        try:
            io_loop.run_sync(made.start, timeout=120)
            yield made
        finally:
            io_loop.run_sync(made.close)
            mongod_trio.mend()


@pytest.fixture
def on_sqlite(tmp_path, io_loop):
    made = Groups(tmp_path)
    try:
        io_loop.run_sync(made.start, timeout=120)
        yield made
    finally:
        io_loop.run_sync(made.close)


async def outlast(groups, fault, record_property) -> list[Asked]:
    """Has clients ask before, during and after a fault. Returns what they asked, after a look at
    what must be true whatever happens to the store."""
    over, application = asyncio.Event(), Application()
    await application.sign_in(groups.place)
    asking = asyncio.ensure_future(application.ask_until(over))
    async with Load(groups).running() as load:
        await asyncio.sleep(BEFORE_SECONDS)
        began = time.monotonic()
        await fault
        recovered = await writes_again(load, time.monotonic())
        await asyncio.sleep(2)
        over.set()
        await asking
    since = load.since(began - 10)
    record_property(
        "counts",
        f"longest wait {longest(since):.2f}, at authorize {max(application.waits):.2f};"
        f" refused {dict(refused(since))}, {sorted(application.errors)};"
        f" writes again after {recovered:.2f}",
    )
    assert application.errors <= {"temporarily_unavailable"}
    assert longest(since) <= LONGEST_SECONDS
    assert max(application.waits) <= LONGEST_SECONDS
    assert {one.status for one in since} <= {200, 503}
    assert all(one.says_when for one in since if one.status == 503)
    return since


async def writes_again(load, back_at: float) -> float:
    """The seconds until a write succeeds."""
    while ("POST", 200) not in {(one.method, one.status) for one in load.since(back_at)}:
        assert time.monotonic() < back_at + RECOVERS_SECONDS, refused(load.since(back_at))
        await asyncio.sleep(0.05)
    return time.monotonic() - back_at


@pytest.mark.deep
@pytest.mark.alone
@pytest.mark.gen_test(timeout=240)
@pytest.mark.parametrize("fault", [away, frozen, alone], ids=lambda fault: fault.__name__)
async def test_without_its_database_the_service_says_when_to_ask_again_and_loses_nothing(
    on_mongodb, mongod_trio, fault, record_property
):
    await outlast(on_mongodb, fault(mongod_trio), record_property)
    await asyncio.to_thread(mongod_trio.mend)

    await on_mongodb.check()


@pytest.mark.deep
@pytest.mark.alone
@pytest.mark.gen_test(timeout=240)
@pytest.mark.parametrize("fault", [written, locked], ids=lambda fault: fault.__name__)
async def test_while_others_lock_its_file_the_service_says_when_to_write_again_and_is_read(
    on_sqlite, fault, record_property
):
    file = on_sqlite.directory / "idp-data" / "idp.sqlite3"
    since = await outlast(on_sqlite, fault(file), record_property)

    await on_sqlite.check()
    assert ("POST", 503) in refused(since)
    assert not [one for one in since if one.method == "GET" and one.status != 200]
