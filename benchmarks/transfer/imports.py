"""An import by a running service, from outside: sent, watched, and looked after."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import httpx
from msgspec import Struct

from benchmarks.transfer.asking import Asking
from benchmarks.transfer.packages import ORG_ID, PASSWORD, Package
from benchmarks.transfer.spending import Spending
from benchmarks.transfer.watched import BEGIN, FILE_VARIABLE
from idp.foundation.clock import SystemClock
from idp.foundation.randomness import SystemRandom
from idp.records import ALL, USERS
from storage import open_store
from tests.support.program import Program
from tests.support.visitor import Visitor

_PAT: Final = "admin.pat"
_STALLS: Final = "stalls"
_WATCHED: Final = "benchmarks.transfer.watched"
_ROOT: Final = Path(__file__).parents[2]
_LOOKS_EVERY_SECONDS: Final = 0.2
_IDLE_SECONDS: Final = 1.0
_UPLOAD_SECONDS: Final = 600
_WAITING: Final = ("JOB_STATE_QUEUED", "JOB_STATE_RUNNING")


class Look(Struct, frozen=True):
    """How far the job was, so many seconds after its package began to be sent."""

    seconds: float
    done: int


class Imported(Struct, frozen=True):
    """What an import took, and what became of it. `steadiness` is the rate of the last tenth of
    the people over that of the first; None where it was too quick to tell."""

    job: dict[str, Any]
    seconds: float
    sent_seconds: float
    looks: list[Look]
    steadiness: float | None
    spending: Spending
    latencies: list[float]
    longest_stall: float
    stored: int
    signed_in: int

    def latency(self, of_hundred: int) -> float:
        """The latency in milliseconds that so many of a hundred userinfo requests keep."""
        return quantiles(self.latencies, n=100, method="inclusive")[of_hundred - 1] * 1000


def measured(directory: Path, package: Package, store: str) -> Imported:
    """The import of a package by a service of its own, at a new store."""
    stalls = directory / _STALLS
    flags = ["--admin-pat", _PAT, "--store", store, "--processes", "1"]
    variables = {FILE_VARIABLE: stalls, "PYTHONPATH": _ROOT}
    program = Program(directory, *flags, module=_WATCHED, **variables).start()
    try:
        head = asyncio.run(_userinfo(program))
        with Asking(program.port, head):
            time.sleep(_IDLE_SECONDS)
        os.kill(program.pid, BEGIN)
        asking, spending = Asking(program.port, head), Spending(program.pid)
        with asking, spending, _client(program) as http:
            began = time.perf_counter()
            job_id = _send(http, package)
            sent = time.perf_counter() - began
            job, looks = _watch(http, job_id, began)
        return Imported(
            job=job,
            seconds=looks[-1].seconds,
            sent_seconds=sent,
            looks=looks,
            steadiness=steadiness(looks, package.people),
            spending=spending,
            latencies=asking.seconds,
            longest_stall=float(stalls.read_text()),
            stored=asyncio.run(_stored(store, package)),
            signed_in=asyncio.run(_signed_in(program, package.tried)),
        )
    finally:
        program.kill()


def steadiness(looks: Sequence[Look], people: int) -> float | None:
    """The rate of the last tenth over that of the first, as far as looks tell."""
    tenth = people / 10
    first = _when(looks, tenth) - _when(looks, 1)
    last = _when(looks, people) - _when(looks, people - tenth)
    few = len(looks) < 20 or min(first, last) < 2 * _LOOKS_EVERY_SECONDS
    return None if few else first / last


def _when(looks: Sequence[Look], done: float) -> float:
    """When so many rows were done, between two looks in a straight line."""
    before = looks[0]
    for look in looks:
        if look.done >= done:
            part = (done - before.done) / (look.done - before.done) if look is not before else 0
            return before.seconds + part * (look.seconds - before.seconds)
        before = look
    return before.seconds


def _client(program: Program) -> httpx.Client:
    token = (program.directory / _PAT).read_text().strip()
    return httpx.Client(
        base_url=program.issuer,
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        timeout=_UPLOAD_SECONDS,
    )


def _send(http: httpx.Client, package: Package) -> str:
    with package.file.open("rb") as body:
        answer = http.post("/admin/v1/import", content=body)
    answer.raise_for_status()
    job_id: str = answer.json()["jobId"]
    return job_id


def _watch(http: httpx.Client, job_id: str, began: float) -> tuple[dict[str, Any], list[Look]]:
    """The job when it has ended, and how far it was at each look."""
    looks = []
    while True:
        job = http.get(f"/admin/v1/jobs/{job_id}").raise_for_status().json()
        looks.append(Look(time.perf_counter() - began, job.get("done", 0)))
        if job["state"] not in _WAITING:
            return job, looks
        time.sleep(_LOOKS_EVERY_SECONDS)


async def _userinfo(program: Program) -> str:
    """The head of a request for userinfo of somebody who is signed in."""
    visitor = Visitor(program.issuer)
    tokens = await program.demo().tokens(visitor, *program.user)
    await visitor.close()
    host = httpx.URL(program.issuer).netloc.decode()
    head = f"GET /oidc/v1/userinfo HTTP/1.1\r\nHost: {host}\r\n"
    return f"{head}Authorization: Bearer {tokens['access_token']}\r\n"


async def _stored(url: str, package: Package) -> int:
    """How many people the organization has, as the store itself counts them."""
    store = open_store(url, now=SystemClock().now, new_id=SystemRandom().id)
    await store.open(ALL, None)
    try:
        return await store.count(USERS, {"org_id": ORG_ID}, up_to=package.people + 1)
    finally:
        await store.close()


async def _signed_in(program: Program, names: Sequence[str]) -> int:
    """How many of these people get tokens for their password at the login pages."""
    done = 0
    for name in names:
        visitor = Visitor(program.issuer)
        tokens = await program.demo().tokens(visitor, name, PASSWORD)
        done += "access_token" in tokens
        await visitor.close()
    return done
