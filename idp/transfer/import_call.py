"""POST /admin/v1/import (specification 4.12, 4.14): a package becomes a job, and is waited for.

The answer comes when the job has ended, or when `timeout` is over: then the job goes on, and the
answer tells what is stored by then.
"""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Annotated, Any, Final

from msgspec import Struct

from idp import requests
from idp.access import Call
from idp.errors import FieldProblem, IdpError, InvalidArgument
from idp.fields import Duration, Schema
from idp.records.jobs import JOBS, Job, JobOptions
from idp.requests import Request
from idp.service import Service
from idp.transfer import import_answer, jobs, parts, running, scratch
from idp.transfer.import_answer import Imported
from idp.transfer.jobs import Hold
from idp.transfer.packages import read_package
from idp.transfer.uploads import Upload

DEFAULT_TIMEOUT: Final = timedelta(minutes=5)
SMALL_BATCH: Final = 50  # rows of a small package are gone through beside the answering of calls
_LOOKS_FIRST_SECONDS: Final = 0.01
_LOOKS_LAST_SECONDS: Final = 0.25
_NAMES: Final = ("dataOrgs", "data_orgs", "dataOrgsv1", "data_orgsv1", "orgs")


class PackageDocument(Struct, frozen=True):
    """Organizations, as an export tells them: looked at row by row, not here."""

    def read(self, value: object) -> object:
        return value

    def schema(self) -> Schema:
        return {"type": "object", "description": "Organizations, as an export tells them."}


class Wishes(Request, frozen=True, kw_only=True):
    """What is asked beside the package: how long to wait for the end, only to tell what would be
    done, to change what is there already, to mend what can be mended safely."""

    timeout: Annotated[timedelta, Duration()] = DEFAULT_TIMEOUT
    dry_run: bool = False
    update: bool = False
    fix: bool = False


class Import(Wishes, frozen=True, kw_only=True):
    """Exactly one package. `dataOrgsv1` may also be the text of the document."""

    data_orgs: Annotated[Any, PackageDocument()] = None
    data_orgsv1: Annotated[Any, PackageDocument()] = None


async def take(service: Service, call: Call, package: Upload) -> Imported:
    """Bring organizations with all that is in them, from an export or another system; each row
    that can't be stored is told, the others are stored.

    Raises InvalidArgument: it is no package, and nothing is stored.
    """
    until = time.monotonic()
    wishes = _wishes(package)
    until += wishes.timeout.total_seconds()
    if package.is_small:
        await asyncio.to_thread(_look_through, package)
    job = await _begin(service, call, wishes, package)
    ended = await _waited_for(service, job.id, until)
    if ended.state == "failed":
        raise _failure(ended)
    return await import_answer.of(service, ended)


def _wishes(package: Upload) -> Wishes:
    """What the call asks for. Raises InvalidArgument."""
    document = package.surface()
    if not isinstance(document, dict):
        raise InvalidArgument([FieldProblem("field.wrong_type", "", "must be an object")])
    beside = {name: value for name, value in document.items() if name not in _NAMES}
    wishes, problems = requests.collect(Wishes, beside)
    named = [name for name in document if name in _NAMES]
    if not named:
        problems.append(FieldProblem("field.required", _NAMES[0], "is required"))
    problems += [
        FieldProblem("field.conflict", name, f"can't be sent together with {named[0]}")
        for name in named[1:]
    ]
    if problems:
        raise InvalidArgument(problems)
    return wishes


def _look_through(package: Upload) -> None:
    """Refuse what is no package, before anything is stored. Raises InvalidArgument."""
    with scratch.directory() as directory:
        package.rewind()
        read_package(package, directory)


async def _begin(service: Service, call: Call, wishes: Wishes, package: Upload) -> Job:
    """The job, whose package is stored: it ends, whatever becomes of this process."""
    options = JobOptions(is_dry_run=wishes.dry_run, updates=wishes.update, mends=wishes.fix)
    job = jobs.new(service, call.actor, options, holder=service.random.id())
    await jobs.begin(service, job)
    hold = Hold(service, job)
    count = 0
    for count, piece in enumerate(package.pieces(parts.PART_BYTES), 1):
        await parts.keep(service, job.id, count - 1, piece)
        await hold.renew()
    await hold.note(parts=count, digest=package.digest)
    if service.wake_importer is None or package.is_small:
        size = SMALL_BATCH if package.is_small else running.BATCH_ROWS
        service.errands.start(_work(service, hold, size))
    else:
        await hold.let_go()
        service.wake_importer()
    return hold.job


async def _work(service: Service, hold: Hold, size: int) -> None:
    await running.work(service, hold, size=size)


async def _waited_for(service: Service, job_id: str, until: float) -> Job:
    """The job when it has ended, or how it stands when the time is over."""
    pause = _LOOKS_FIRST_SECONDS
    while True:
        job = await service.store.get(JOBS, job_id)
        if job is None:
            raise IdpError("the job is gone")
        left = until - time.monotonic()
        if job.state not in jobs.WAITING or left <= 0:
            return job
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 1.5, _LOOKS_LAST_SECONDS)


def _failure(job: Job) -> IdpError:
    if job.reason_slug == "internal":
        return IdpError("something failed on the side of the service")
    problem = FieldProblem(job.reason_slug or "", "", job.reason or "")
    return InvalidArgument([problem])
