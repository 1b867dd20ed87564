"""An import by a running service, measured from outside: sent, watched, and checked afterwards."""

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

from benchmarks.transfer.packages import ORG_ID, PASSWORD, Package
from benchmarks.transfer.spending import Spending
from benchmarks.transfer.userinfo_load import UserinfoLoad
from benchmarks.transfer.watched import BEGIN, FILE_VARIABLE
from idp.foundation.clock import SystemClock
from idp.foundation.randomness import SystemRandom
from idp.records import ALL, USERS
from storage import open_store
from tests.support.browsers.visitor import Visitor
from tests.support.programs.program import Program

_PAT: Final = "admin.pat"
_STALLS: Final = "stalls"
_WATCHED: Final = "benchmarks.transfer.watched"
_ROOT: Final = Path(__file__).parents[2]
_SAMPLE_SECONDS: Final = 0.2
_IDLE_SECONDS: Final = 1.0
_UPLOAD_SECONDS: Final = 600
_WAITING: Final = ("JOB_STATE_QUEUED", "JOB_STATE_RUNNING")


class ProgressSample(Struct, frozen=True):
    """The progress of the job, so many seconds after the start of the upload."""

    seconds: float
    done: int


class Imported(Struct, frozen=True):
    """The duration of an import, and its result. `steadiness` is the rate of the last tenth of the
    people, divided by that of the first; None if the import was too quick to determine it."""

    job: dict[str, Any]
    seconds: float
    sent_seconds: float
    samples: list[ProgressSample]
    steadiness: float | None
    spending: Spending
    latencies: list[float]
    longest_stall: float
    stored: int
    signed_in: int

    def latency(self, of_hundred: int) -> float:
        """Returns the latency in milliseconds that so many of a hundred userinfo requests do not
        exceed."""
        return quantiles(self.latencies, n=100, method="inclusive")[of_hundred - 1] * 1000


def measured(directory: Path, package: Package, store: str) -> Imported:
    """Imports a package with a separate service, into a new store."""
    stalls = directory / _STALLS
    flags = ["--admin-pat", _PAT, "--store", store, "--processes", "1"]
    variables = {FILE_VARIABLE: stalls, "PYTHONPATH": _ROOT}
    program = Program(directory, *flags, module=_WATCHED, **variables).start()
    try:
        head = asyncio.run(_userinfo(program))
        with UserinfoLoad(program.port, head):
            time.sleep(_IDLE_SECONDS)
        os.kill(program.pid, BEGIN)
        userinfo_load, spending = UserinfoLoad(program.port, head), Spending(program.pid)
        with userinfo_load, spending, _client(program) as http:
            began = time.perf_counter()
            job_id = _send(http, package)
            sent = time.perf_counter() - began
            job, samples = _watch(http, job_id, began)
        return Imported(
            job=job,
            seconds=samples[-1].seconds,
            sent_seconds=sent,
            samples=samples,
            steadiness=steadiness(samples, package.people),
            spending=spending,
            latencies=userinfo_load.seconds,
            longest_stall=float(stalls.read_text()),
            stored=asyncio.run(_stored(store, package)),
            signed_in=asyncio.run(_signed_in(program, package.tried)),
        )
    finally:
        program.kill()


def steadiness(samples: Sequence[ProgressSample], people: int) -> float | None:
    """Returns the rate of the last tenth divided by that of the first, if the samples suffice."""
    tenth = people / 10
    first = _when(samples, tenth) - _when(samples, 1)
    last = _when(samples, people) - _when(samples, people - tenth)
    few = len(samples) < 20 or min(first, last) < 2 * _SAMPLE_SECONDS
    return None if few else first / last


def _when(samples: Sequence[ProgressSample], done: float) -> float:
    """Returns when so many rows were done, interpolated between two samples."""
    before = samples[0]
    for sample in samples:
        if sample.done >= done:
            part = (
                (done - before.done) / (sample.done - before.done) if sample is not before else 0
            )
            return before.seconds + part * (sample.seconds - before.seconds)
        before = sample
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


def _watch(
    http: httpx.Client, job_id: str, began: float
) -> tuple[dict[str, Any], list[ProgressSample]]:
    """Returns the job when it has ended, and its progress at each sample."""
    samples = []
    while True:
        job = http.get(f"/admin/v1/jobs/{job_id}").raise_for_status().json()
        samples.append(ProgressSample(time.perf_counter() - began, job.get("done", 0)))
        if job["state"] not in _WAITING:
            return job, samples
        time.sleep(_SAMPLE_SECONDS)


async def _userinfo(program: Program) -> str:
    """Returns the head of a request for userinfo of a signed-in user."""
    visitor = Visitor(program.issuer)
    tokens = await program.demo().tokens(visitor, *program.user)
    await visitor.close()
    host = httpx.URL(program.issuer).netloc.decode()
    head = f"GET /oidc/v1/userinfo HTTP/1.1\r\nHost: {host}\r\n"
    return f"{head}Authorization: Bearer {tokens['access_token']}\r\n"


async def _stored(url: str, package: Package) -> int:
    """Returns how many people the organization has, as counted by the store."""
    store = open_store(url, now=SystemClock().now, new_id=SystemRandom().id)
    await store.open(ALL, None)
    try:
        return await store.count(USERS, {"org_id": ORG_ID}, up_to=package.people + 1)
    finally:
        await store.close()


async def _signed_in(program: Program, names: Sequence[str]) -> int:
    """Returns how many of these people get tokens for their password at the login pages."""
    done = 0
    for name in names:
        visitor = Visitor(program.issuer)
        tokens = await program.demo().tokens(visitor, name, PASSWORD)
        done += "access_token" in tokens
        await visitor.close()
    return done
