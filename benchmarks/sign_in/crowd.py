"""The duration of userinfo while very many people sign in at the same time."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from statistics import quantiles
from typing import Final, NamedTuple

import httpx
import msgspec

from benchmarks.protocol.load import Flow, Order, Plan, Sample, Step
from benchmarks.sign_in.people import KINDS, PASSWORD, Administrator
from tests.support.browsers.visitor import Page, Visitor
from tests.support.protocol.relying_party import RelyingParty

TIMES_IDLE: Final = 2.0
MOST_MILLISECONDS: Final = 50.0
_CONNECTIONS: Final = 1
_ARRIVAL_SECONDS: Final = 3.0
_NICENESS: Final = 19  # the crowd's browsers would not be on the service's machine


class Saturation(NamedTuple):
    """The p99 of userinfo in milliseconds, and the results of the concurrent sign-ins."""

    idle: float
    busy: float
    signed_in: int
    put_off: int

    @property
    def is_met(self) -> bool:
        return self.busy <= max(TIMES_IDLE * self.idle, MOST_MILLISECONDS)


async def measured(
    administrator: Administrator, party: RelyingParty, people: int, seconds: float
) -> Saturation:
    """Measures userinfo, first idle and then while so many people send their passwords
    repeatedly."""
    names = administrator.people("crowd", KINDS["wrong"], people + 1)
    asker = Visitor(party.issuer)
    tokens = await party.tokens(asker, names[-1], PASSWORD)
    await asker.close()
    port = httpx.URL(party.issuer).port or 80
    head = f"GET /oidc/v1/userinfo HTTP/1.1\r\nHost: {httpx.URL(party.issuer).netloc.decode()}\r\n"
    head += f"Authorization: Bearer {tokens['access_token']}\r\n"
    plan = Plan(port, [Flow([Step(head)])] * _CONNECTIONS, connections=_CONNECTIONS)
    idle = await _asked(plan, seconds)
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawning, os.nice, (_NICENESS,)) as pool:
        loop = asyncio.get_running_loop()
        until = seconds + _ARRIVAL_SECONDS
        crowd = loop.run_in_executor(pool, _crowd, party, names[:-1], PASSWORD, until)
        await asyncio.sleep(_ARRIVAL_SECONDS)
        busy = await _asked(plan, seconds)
        signed_in, put_off = await crowd
    return Saturation(_p99(idle), _p99(busy), signed_in, put_off)


def _crowd(
    party: RelyingParty, names: Sequence[str], password: str, seconds: float
) -> tuple[int, int]:
    """Returns how many sign-ins of these people succeed in that time, and how often one is
    deferred."""
    crowd = _Crowd(party, password, time.monotonic() + seconds)
    asyncio.run(crowd.sign_in(names))
    return crowd.signed_in, crowd.put_off


class _Crowd:
    """People who sign in, are deferred if too many do so, and try again until a time."""

    def __init__(self, party: RelyingParty, password: str, until: float) -> None:
        self._party = party
        self._password = password
        self._until = until
        self._chance = random.Random()  # noqa: S311 - people are not punctual
        self.signed_in = 0
        self.put_off = 0

    async def sign_in(self, names: Sequence[str]) -> None:
        """Signs in all of these people concurrently."""
        await asyncio.gather(*map(self._again_and_again, names))

    async def _again_and_again(self, name: str) -> None:
        while time.monotonic() < self._until:
            visitor = Visitor(self._party.issuer)
            visitor.may_fail = True
            page = await visitor.open(self._party.authorize_url())
            page = await visitor.submit(page, loginName=name)
            await self._press(visitor, page)
            await visitor.close()

    async def _press(self, visitor: Visitor, page: Page) -> None:
        """Sends the password until it is checked."""
        while time.monotonic() < self._until:
            answer = await visitor.send(page, password=self._password)
            if answer.status != 503:
                assert answer.status == 303, answer.text  # noqa: S101 - a benchmark
                self.signed_in += 1
                return
            self.put_off += 1
            await asyncio.sleep(float(answer.headers["Retry-After"]) + self._chance.random())


async def _asked(plan: Plan, seconds: float) -> Sample:
    """Returns the measurement of a separate process, because this process is busy."""
    command = [sys.executable, "-m", "benchmarks.protocol.load"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    order = msgspec.json.encode(Order("userinfo", seconds, plan))
    output, _ = await process.communicate(order + b"\n")
    return msgspec.json.decode(output, type=Sample)


def _p99(sample: Sample) -> float:
    return quantiles(sample.latencies, n=100)[-1] * 1000
