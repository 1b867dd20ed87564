"""Clients who go on asking while something fails: how each was answered, and after how long."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import asynccontextmanager

import httpx
from msgspec import Struct

from idp.records import PROJECTS
from tests.fire.run import NO_REUSE

CLIENTS = 4
PAUSE_SECONDS = 0.05
PATIENCE_SECONDS = 90
PATH = "/management/v1/projects"
BALANCERS_OWN = (502, 503, 504)


class Asked(Struct, frozen=True):
    """A request on a connection of its own. `status` is None if there was no answer; `says_when`
    is whether the answer says when to ask again."""

    method: str
    began: float
    seconds: float
    status: int | None
    says_when: bool = False


class Load:
    """Writes through the balancer, and after each a read of what was stored last, whether the
    write succeeded or not; each on a fresh connection."""

    def __init__(self, groups) -> None:
        self._groups = groups
        self._number = 0
        self.asked: list[Asked] = []
        self.names: dict[str, str] = {}  # of the projects whose making was acknowledged, by id

    def since(self, instant: float) -> list[Asked]:
        """What was asked after this instant of the monotonic clock."""
        return [one for one in self.asked if one.began >= instant]

    @asynccontextmanager
    async def running(self):
        """Within the block the clients ask; at its end, what must be true always is."""
        over = asyncio.Event()
        async with asyncio.TaskGroup() as clients:
            for _ in range(CLIENTS):
                clients.create_task(self._ask_until(over))
            try:
                yield self
            finally:
                over.set()
        await self.check()

    async def check(self) -> None:
        """No answer was a 500, no acknowledged write is lost, and none was done twice."""
        statuses = Counter(one.status for one in self.asked)
        assert self.names, statuses
        assert 500 not in statuses, statuses
        stored = Counter([each.name async for each in self._groups.place.store.scan(PROJECTS)])
        assert not set(self.names.values()) - set(stored), "an acknowledged write is lost"
        assert not [name for name, count in stored.items() if count > 1], "done twice"

    async def _ask_until(self, over: asyncio.Event) -> None:
        headers = {"Authorization": f"Bearer {self._groups.token}"}
        options = {"limits": NO_REUSE, "timeout": PATIENCE_SECONDS, "headers": headers}
        async with httpx.AsyncClient(base_url=self._groups.issuer, **options) as http:
            while not over.is_set():
                self._number += 1
                name = f"project {self._number}"
                made = await self._ask(http, "POST", PATH, json={"name": name})
                if made is not None and made.status_code == 200:
                    self.names[made.json()["id"]] = name
                if self.names:
                    found = await self._ask(http, "GET", f"{PATH}/{next(reversed(self.names))}")
                    assert found is None or found.status_code in (200, *BALANCERS_OWN)
                await asyncio.sleep(PAUSE_SECONDS)

    async def _ask(self, http, method: str, path: str, **body) -> httpx.Response | None:
        began = time.monotonic()
        try:
            answer = await http.request(method, path, **body)
        except httpx.TransportError:
            self.asked.append(Asked(method, began, time.monotonic() - began, None))
            return None
        seconds, says_when = time.monotonic() - began, "Retry-After" in answer.headers
        self.asked.append(Asked(method, began, seconds, answer.status_code, says_when))
        return answer


def longest(asked: list[Asked]) -> float:
    return max(one.seconds for one in asked)


def refused(asked: list[Asked]) -> Counter:
    """What was not answered by 200, by method and status."""
    return Counter((one.method, one.status) for one in asked if one.status != 200)
