"""People who sign in and applications that refresh, over two programs of one store."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from tests.support import patience
from tests.support.browsers.transport import Loopback
from tests.support.browsers.visitor import Visitor
from tests.support.management.callers import Caller
from tests.support.programs.program import Program
from tests.support.protocol.relying_party import RelyingParty

PASSWORD: Final = "four green kettles hum"  # noqa: S105


class ToOne(Loopback):
    """Requests to the port of one program, whatever the issuer says."""

    port = 0

    async def _connection(self, port: int):
        self._idle.setdefault(port, [])
        self._idle.setdefault(self.port, self._idle[port])
        return await super()._connection(self.port)


class Balancer:
    """Which programs get requests. One that is taken out gets no new ones, and has answered those
    under way."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ports: dict[Program, int] = {}
        self._busy: Counter[Program] = Counter()
        self._news = asyncio.Condition()

    def put_in(self, program: Program) -> None:
        self._ports[program] = program.port

    async def take_out(self, program: Program) -> None:
        del self._ports[program]
        async with self._news:
            await self._news.wait_for(lambda: not self._busy[program])

    @asynccontextmanager
    async def one(self) -> AsyncIterator[int]:
        """The port of one of them, for a request or a whole sign-in."""
        program = self._random.choice(list(self._ports))
        self._busy[program] += 1
        try:
            yield self._ports[program]
        finally:
            async with self._news:
                self._busy[program] -= 1
                self._news.notify_all()


class Person:
    """Somebody with a browser, and the families of refresh tokens that applications hold."""

    def __init__(self, name: str, party: RelyingParty, balancer: Balancer) -> None:
        self.name = name
        self.living: list[str] = []
        self.revoked: list[str] = []
        self._party = party
        self._balancer = balancer

    async def turn(self, random: Random) -> None:
        """Sign in, redeem, come again silently, refresh and revoke: each at another program."""
        await self._sign_in()
        for _ in range(5):
            await self.refresh(random.randrange(len(self.living)))
        if len(self.living) > 3:
            await self._revoke()

    async def refresh(self, number: int) -> None:
        """Refresh one of the families, and use what came of it."""
        async with self._browser() as browser:
            page = await self._party.refresh(browser, self.living[number])
        assert page.status == 200, (self.name, page.text)
        self.living[number] = page.json()["refresh_token"]
        await self._use(page.json()["access_token"])

    async def is_refused(self) -> None:
        """Assert that what was revoked is refused."""
        for token in self.revoked:
            async with self._browser() as browser:
                page = await self._party.refresh(browser, token)
            assert page.status == 400, (self.name, page.text)

    async def _sign_in(self) -> None:
        async with self._browser() as browser:
            url = self._party.authorize_url(prompt="login")
            page = await browser.sign_in(url, self.name, PASSWORD)
            cookies = dict(browser.cookies)
        await self._redeem(page.answer["code"])
        async with self._browser() as browser:
            for name, value in cookies.items():
                browser.cookies.set(name, value)
            answer = await self._party.silently(browser)
        assert "code" in answer, (self.name, answer)
        await self._redeem(answer["code"])

    async def _redeem(self, code: str) -> None:
        async with self._browser() as browser:
            page = await self._party.redeem(browser, code)
        assert page.status == 200, (self.name, page.text)
        self.living.append(page.json()["refresh_token"])
        await self._use(page.json()["access_token"])

    async def _use(self, access_token: str) -> None:
        async with self._browser() as browser:
            page = await self._party.userinfo(browser, access_token)
        assert page.status == 200, (self.name, page.text)

    async def _revoke(self) -> None:
        token = self.living.pop(0)
        async with self._browser() as browser:
            form, headers = {"token": token}, self._party.basic()
            page = await browser.post("/oauth/v2/revoke", form, headers=headers)
        assert page.status == 200, (self.name, page.text)
        self.revoked.append(token)

    @asynccontextmanager
    async def _browser(self) -> AsyncIterator[Visitor]:
        async with self._balancer.one() as port, at_port(self._party.issuer, port) as browser:
            yield browser


@asynccontextmanager
async def at_port(issuer: str, port: int) -> AsyncIterator[Visitor]:
    """A browser without cookies that reaches the program on that port."""
    transport = ToOne()
    transport.port = port
    browser = Visitor(issuer, transport=transport, timeout=patience.SECONDS)
    try:
        yield browser
    finally:
        await browser.close()


async def add_person(name: str, issuer: str, port: int, token: str) -> None:
    """Create a user with `PASSWORD` by the management API."""
    user = {
        "username": name,
        "password": {"password": PASSWORD},
        "profile": {"givenName": name.title(), "familyName": "Muster"},
        "email": {"email": f"{name}@example.com", "isVerified": True},
    }
    async with at_port(issuer, port) as browser:
        page = await Caller(browser, token).post("/v2/users/human", user)
    assert page.status == 200, page.text
