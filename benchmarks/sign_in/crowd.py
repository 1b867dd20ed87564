"""What userinfo takes while very many people sign in at once."""

from __future__ import annotations

import asyncio
import random
import sys
from statistics import quantiles
from typing import Final, NamedTuple

import httpx
import msgspec

from benchmarks.protocol.load import Flow, Order, Plan, Sample, Step
from benchmarks.sign_in.people import KINDS, PASSWORD, Administrator
from tests.support.relying_party import RelyingParty
from tests.support.visitor import Page, Visitor

TIMES_IDLE: Final = 2.0
MOST_MILLISECONDS: Final = 50.0
_CONNECTIONS: Final = 1


class Saturation(NamedTuple):
    """p99 of userinfo in milliseconds, and what became of the sign-ins meanwhile."""

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
    """Userinfo, idle and then while this many people send their passwords again and again."""
    names = administrator.people("crowd", KINDS["wrong"], people + 1)
    asker = Visitor(party.issuer)
    tokens = await party.tokens(asker, names[-1], PASSWORD)
    await asker.close()
    port = httpx.URL(party.issuer).port or 80
    head = f"GET /oidc/v1/userinfo HTTP/1.1\r\nHost: {httpx.URL(party.issuer).netloc.decode()}\r\n"
    head += f"Authorization: Bearer {tokens['access_token']}\r\n"
    plan = Plan(port, [Flow([Step(head)])] * _CONNECTIONS, connections=_CONNECTIONS)
    idle = await _asked(plan, seconds)
    crowd = _Crowd(party)
    waiting = await asyncio.gather(*[crowd.at_password(name) for name in names[:-1]])
    asking = asyncio.create_task(_asked(plan, seconds))
    await asyncio.gather(*[crowd.press(*each, until=asking) for each in waiting])
    busy = await asking
    return Saturation(_p99(idle), _p99(busy), crowd.signed_in, crowd.put_off)


class _Crowd:
    """People who sign in, are put off where too many are at it, and try again."""

    def __init__(self, party: RelyingParty) -> None:
        self._party = party
        self._chance = random.Random()  # noqa: S311 - people are not punctual
        self.signed_in = 0
        self.put_off = 0

    async def at_password(self, name: str) -> tuple[Visitor, Page]:
        """A browser that waits for the password."""
        visitor = Visitor(self._party.issuer)
        visitor.may_fail = True
        page = await visitor.open(self._party.authorize_url())
        return visitor, await visitor.submit(page, loginName=name)

    async def press(self, visitor: Visitor, page: Page, until: asyncio.Task[Sample]) -> None:
        """Send the password; once in, sign in anew, until the task is done."""
        name = page.inputs["loginName"]
        while not until.done():
            answer = await visitor.send(page, password=PASSWORD)
            if answer.status == 503:
                self.put_off += 1
                await asyncio.sleep(float(answer.headers["Retry-After"]) + self._chance.random())
                continue
            assert answer.status == 303, answer.text  # noqa: S101 - a benchmark
            self.signed_in += 1
            await visitor.close()
            visitor, page = await self.at_password(name)
        await visitor.close()


async def _asked(plan: Plan, seconds: float) -> Sample:
    """What a process of its own measures: this one has other work."""
    command = [sys.executable, "-m", "benchmarks.protocol.load"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    order = msgspec.json.encode(Order("userinfo", seconds, plan))
    output, _ = await process.communicate(order + b"\n")
    return msgspec.json.decode(output, type=Sample)


def _p99(sample: Sample) -> float:
    return quantiles(sample.latencies, n=100)[-1] * 1000
