"""Imports of files on this machine, which only a caller that has the file can resume."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

from msgspec import Struct, structs

from idp.foundation import base64url
from idp.foundation.errors import Busy, InvalidArgument, NotFound, PreconditionFailed
from idp.foundation.errors import FieldProblem as Problem
from idp.records.jobs import JOBS, Job, JobOptions
from idp.search import paging
from idp.service import Service
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs.lifecycle import Hold
from idp.transfer.package.chunks import PackageLost
from storage import Stale
from storage.confirmed_commit import commit_confirmed


class LocalFile(Struct, frozen=True):
    """A file by its absolute path, and the SHA-256 digest of its content."""

    path: str
    digest: str


async def identify(path: Path) -> LocalFile:
    """Returns the file at `path` with its current digest. Raises InvalidArgument if it cannot be
    read.
    """
    try:
        return await asyncio.to_thread(_read, path)
    except OSError as error:
        message = f"can't be read: {error.strerror}"
        raise InvalidArgument([Problem("import.package_lost", str(path), message)]) from None


def check(path: Path, digest: str) -> None:
    """Compares a file with the digest that it had when its job began.

    Raises PackageLost if they differ.
    """
    try:
        digest_now = _digest(path)
    except OSError as error:
        raise PackageLost(f"{path} can't be read: {error.strerror}") from None
    if digest_now != digest:
        raise PackageLost(f"{path} has changed since the import began")


async def begin(service: Service, actor: str, file: LocalFile, options: JobOptions) -> Hold:
    """Creates a job for the file, held by this process and started by `actor`. Raises
    StorageError.
    """
    job = job_lifecycle.new(service, actor, options, holder=service.random.id(), source=file.path)
    job = structs.replace(job, digest=file.digest)
    await job_lifecycle.begin(service, job)
    return Hold(service, job)


async def resume(service: Service, actor: str, file: LocalFile, options: JobOptions) -> Hold:
    """Takes over the newest unfinished job for the file with the same options, as the user
    `actor`.

    A killed process is considered the holder until its lease ends, so the call waits for that.
    Raises NotFound; PreconditionFailed if the file has changed; Busy if another process holds the
    job.
    """
    job = await _after_lease(service, await _unfinished(service, file, options))
    try:
        resumption = job_lifecycle.resumption(service, actor, job)
        if resumption.writes:
            await commit_confirmed(service.store, *resumption.writes)
        job = resumption.answer
    except Stale:  # another process resumed the job concurrently
        raise _busy(job) from None
    hold = await job_lifecycle.claim(service, job, service.random.id())
    if hold is None:
        raise _busy(job)
    # The file is identified by its digest and may have been moved.
    await hold.store_values(source=file.path)
    return hold


async def _unfinished(service: Service, file: LocalFile, options: JobOptions) -> Job:
    unfinished: list[Job] = [
        job
        async for job in paging.each(service, JOBS, {})
        if job.source is not None and job_lifecycle.can_be_resumed(job) and job.options == options
    ]
    jobs_of_file = [job for job in unfinished if job.digest == file.digest]
    if jobs_of_file:
        return max(jobs_of_file, key=lambda job: job.created_at)
    if any(job.source == file.path for job in unfinished):
        message = f"{file.path} has changed since its import was interrupted; import it again"
        raise PreconditionFailed(message)
    message = "there is no unfinished import of this file with these options"
    raise NotFound(message, error_code="job.not_found")


async def _after_lease(service: Service, job: Job) -> Job:
    """Returns the job once its lease has ended.

    Raises NotFound, and Busy if its holder renewed it.
    """
    remaining_seconds = (
        (job.held_until - service.clock.now()).total_seconds() if job.held_until else 0
    )
    if remaining_seconds <= 0:
        return job
    await asyncio.sleep(remaining_seconds)
    job_now = await service.store.get(JOBS, job.id)
    if job_now is None:
        raise NotFound("there is no such job", error_code="job.not_found")
    if job_now.held_until is not None and job_now.held_until > service.clock.now():
        raise _busy(job_now)
    return job_now


def _busy(job: Job) -> Busy:
    return Busy(
        f"another process is running the job: idp job watch {job.id}", retry_after_seconds=15
    )


def _read(path: Path) -> LocalFile:
    return LocalFile(str(path.resolve()), _digest(path))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return base64url.encode(hashlib.file_digest(file, "sha256").digest())
