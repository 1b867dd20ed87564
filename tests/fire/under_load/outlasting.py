"""Clients who ask before, during and after a fault of the store, and how they were answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from urllib.parse import parse_qs, urlsplit

import httpx
from msgspec import Struct

from tests.fire.run import NO_REUSE
from tests.fire.under_load.load import Asked, Load, longest, refused
from tests.flows.flows import person
from tests.support.browsers.visitor import Visitor

LONGEST_SECONDS = 8  # for any answer
RECOVERS_SECONDS = 20
BEFORE_SECONDS = 2


class Outlasted(Struct):
    """What was asked from ten seconds before the fault on, and how long after its end a write
    succeeded."""

    asked: list[Asked]
    recovered: float


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


async def outlast(groups, fault: Awaitable[None], record_property) -> Outlasted:
    """Has clients ask before, during and after a fault, and looks at what must be true whatever
    happens to the store."""
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
    return Outlasted(since, recovered)


async def writes_again(load, back_at: float) -> float:
    """The seconds until a write succeeds."""
    while ("POST", 200) not in {(one.method, one.status) for one in load.since(back_at)}:
        assert time.monotonic() < back_at + RECOVERS_SECONDS, refused(load.since(back_at))
        await asyncio.sleep(0.05)
    return time.monotonic() - back_at


def reads_went_on(asked: list[Asked]) -> bool:
    """Whether each read was answered, also while writes were refused."""
    first = min(one.began for one in asked if (one.method, one.status) == ("POST", 503))
    reads = [one for one in asked if one.method == "GET"]
    return {one.status for one in reads} == {200} and any(one.began > first for one in reads)
