"""Imports whose processes are killed: a package in a store, and the process that works on it."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from pathlib import Path

import msgspec
from msgspec import structs

from idp.config.settings import Config
from idp.records import EVENTS, JOBS, JobOptions
from idp.server.import_process import COMMAND, ImportAssignment
from idp.start import bootstrap
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.package import chunks as package_chunks
from storage import Update
from tests.support.store.stored import everything

# What an import leaves of its own, and what differs from one run to the next.
OWN = ("jobs", "job_problems", "job_batches", "package_parts", "login_claims")


def package(people: int, organizations: int = 4) -> dict:
    """People by the thousand in a few organizations; every tenth is a mistake of some kind."""
    orgs = [
        {"orgId": f"org-{n}", "org": {"name": f"Org {n}"}, "humanUsers": []}
        for n in range(organizations)
    ]
    for n in range(people):
        person = {
            "userName": f"user-{n if n % 20 != 7 else n - 1}",
            "profile": {"firstName": "U", "lastName": str(n)},
            "email": {"email": f"u{n}@example.com", "isEmailVerified": n % 3 == 0},
        }
        if n % 20 == 13:
            person["email"] = {"email": "none"}
        orgs[n % organizations]["humanUsers"].append({"userId": f"u|{n}", "user": person})
    return {"orgs": orgs}


async def begun(service, document: dict, **options) -> str:
    """The id of a job that waits, its package in pieces."""
    job = job_lifecycle.new(service, "importer", JobOptions(**options))
    await job_lifecycle.begin(service, job)
    octets, size = msgspec.json.encode(document), 50_000
    pieces = [octets[at : at + size] for at in range(0, len(octets), size)]
    for n, piece in enumerate(pieces):
        await package_chunks.store(service, job.id, n, piece)
    await service.store.commit(Update(JOBS, job.id, set={"parts": len(pieces)}))
    return job.id


async def opened(config: Config):
    """The service of an installation that is made where there is none."""
    Path(config.data).mkdir(parents=True, exist_ok=True)
    service = await bootstrap.open_service(config)
    await bootstrap.make_ready(service)
    return service


async def process(service, config: Config, id: str):
    """A process that works on a job, which was claimed for it if it has not ended."""
    job, holder = await service.store.get(JOBS, id), service.random.id()
    if job.state in job_lifecycle.WAITING:
        assert await job_lifecycle.claim(service, job, holder)
    assignment = ImportAssignment(config, id, holder)
    child = await asyncio.create_subprocess_exec(
        *COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
    )
    child.stdin.write(msgspec.json.encode(assignment) + b"\n")
    await child.stdin.drain()
    return child


async def finished(child) -> int:
    try:
        return await child.wait()
    finally:
        if child.returncode is None:
            child.kill()
        child.stdin.close()


async def killed(service, config: Config, id: str) -> bool:
    """Kill a process at some moment of the first batch that it works on, or right after it;
    whether the job was still to be done."""
    before, until = await service.store.get(JOBS, id), None
    child = await process(service, config, id)
    while child.returncode is None and (until is None or time.monotonic() < until):
        job = await service.store.get(JOBS, id)
        if job.position > before.position:
            break
        if until is None and job.changed_at > before.changed_at:  # it has opened the package
            until = time.monotonic() + random.random() * 0.4
        await asyncio.sleep(0.01)
    if child.returncode is None:
        child.send_signal(signal.SIGKILL)
    await finished(child)
    return (await service.store.get(JOBS, id)).state in job_lifecycle.WAITING


async def without_chance(store) -> dict:
    """What the store holds, but for times, chance, and what an import keeps of itself."""
    found = await everything(store)
    kept = {name: records for name, records in found.items() if name not in OWN}
    events = kept.pop(EVENTS.name).values()
    told = sorted(
        (one.collection, one.record_id, one.sequence, one.type, one.org_id or "", row_of(one))
        for one in events
        if one.type.partition(".")[0] in ("user", "organization", "domain")
        and dict(one.payload).get("import")
    )
    names = {(one[0], one[1]) for one in told}
    return {
        name: sorted(plain(one) for id, one in records.items() if (name, id) in names)
        for name, records in kept.items()
    } | {"told": told}


def row_of(event):
    return dict(event.payload).get("row", "")


def plain(record):
    chance = ("created_at", "changed_at", "stamp", "verified_at", "challenge")
    found = structs.asdict(record)
    for name in chance:
        found.pop(name, None)
    if "domain" in found:
        found.pop("id")
    return repr(found)
