"""The requests that are timed: those of browsers, and those of programs."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import time
from collections.abc import Awaitable, Callable
from statistics import quantiles
from typing import Final, NamedTuple

import httpx

from tests.support.browsers.visitor import Visitor
from tests.support.protocol.relying_party import RelyingParty

IN_FLIGHT: Final = 24
_PASSWORD: Final = "correct horse battery staple 1"


class Times(NamedTuple):
    """The median and the 99th percentile of the durations, in milliseconds."""

    p50: float
    p99: float

    @classmethod
    def of(cls, seconds: list[float]) -> Times:
        cuts = quantiles(seconds, n=100, method="inclusive")
        return cls(1000 * cuts[49], 1000 * cuts[98])


class RequestSender:
    """Sends requests to one service, sequentially or concurrently.

    `token` is a personal access token of an administrator, `user` the login name and the password
    of a user who signs in.
    """

    def __init__(self, party: RelyingParty, token: str, user: tuple[str, str]) -> None:
        self._party = party
        self._headers = {"Authorization": f"Bearer {token}"}
        self._user = user
        self._numbers = itertools.count()

    async def signed_in(self, count: int) -> dict[str, Times]:
        """Returns the times of complete sign-ins, each in a new browser, and of the password step
        alone."""
        whole, step = [], []
        for _ in range(count):
            visitor = Visitor(self._party.issuer)
            began = time.perf_counter()
            page = await visitor.open(self._party.authorize_url())
            page = await visitor.submit(page, loginName=self._user[0])
            sent = time.perf_counter()
            # As a browser sends it: with the login name, which is shown beside the password.
            form = {**page.inputs, "password": self._user[1]}
            page = await visitor.submit(page, **form)
            step.append(time.perf_counter() - sent)
            answer = await self._party.redeem(visitor, page.answer["code"])
            whole.append(time.perf_counter() - began)
            assert answer.status == 200, answer.text
            await visitor.close()
        return {"whole sign-in": Times.of(whole), "password step": Times.of(step)}

    async def created(self, count: int) -> dict[str, Times]:
        """Returns the times of creating users, sequentially and then concurrently."""
        async with self._program() as http:
            alone = [await _timed(lambda: self._create(http)) for _ in range(count)]
            many: list[float] = []
            while len(many) < count:
                together = [_timed(lambda: self._create(http)) for _ in range(IN_FLIGHT)]
                many += await asyncio.gather(*together)
        return {
            "create user": Times.of(alone),
            f"create user, {IN_FLIGHT} in flight": Times.of(many),
        }

    async def introspected(self, count: int) -> dict[str, Times]:
        """Returns the times of introspections of one token."""
        visitor = Visitor(self._party.issuer)
        access = (await self._party.tokens(visitor, *self._user))["access_token"]
        form, basic = {"token": access}, self._party.basic()

        async def ask() -> None:
            answer = await visitor.post("/oauth/v2/introspect", form, headers=basic)
            assert answer.json()["active"], answer.text

        times = [await _timed(ask) for _ in range(count)]
        await visitor.close()
        return {"introspection": Times.of(times)}

    async def _create(self, http: httpx.AsyncClient) -> None:
        name = f"person-{next(self._numbers)}-{secrets.token_hex(4)}"
        body = {
            "username": name,
            "profile": {"givenName": "Ada", "familyName": "Lovelace"},
            "email": {"email": f"{name}@corp.example", "isVerified": True},
            "password": {"password": _PASSWORD},
        }
        made = await http.post("/v2/users/human", json=body, headers={"Idempotency-Key": name})
        made.raise_for_status()

    def _program(self) -> httpx.AsyncClient:
        limits = httpx.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
        return httpx.AsyncClient(
            base_url=self._party.issuer, headers=self._headers, limits=limits, timeout=60
        )


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began
