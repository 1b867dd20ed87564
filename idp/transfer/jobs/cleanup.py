"""Removal of what jobs leave: a package when its job is done, a job after thirty days."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from idp.audit import versioned_updates
from idp.audit.events import AuditEntry
from idp.records.jobs import JOB_BATCHES, JOB_PROBLEMS, JOBS, Job
from idp.search import paging
from idp.service import Service
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.package import chunks as package_chunks
from storage import Collection, Delete, Stale, Update
from storage.confirmed_commit import commit_confirmed

EVERY_SECONDS: Final = 60.0
STORED_FOR: Final = timedelta(days=30)
RESUMABLE_FOR: Final = timedelta(days=1)  # after a cancellation
_AT_ONCE: Final = 500


async def tidy(service: Service) -> None:
    """Removes the packages of jobs that can't be resumed any more, and jobs thirty days after
    their end; a task of the schedule (`idp/background/schedule.py`) calls it.

    Raises StorageError.
    """
    now = service.clock.now()
    async for job in paging.each(service, JOBS, {}):
        # A job that waits for its file has no end from which the time could count.
        if job_lifecycle.is_cut_off(job, now) and now - job.changed_at > STORED_FOR:
            await _forget(service, job)
        if job.state in job_lifecycle.WAITING or job.finished_at is None:
            continue
        if job.parts and not _may_go_on(job, job.finished_at, now):
            await drop_package(service, job)
        if now - job.finished_at > STORED_FOR:
            await _forget(service, job)


def _may_go_on(job: Job, finished_at: datetime, now: datetime) -> bool:
    return job.state in job_lifecycle.RESUMED and now - finished_at <= RESUMABLE_FOR


async def drop_package(service: Service, job: Job) -> None:
    """Removes the stored package of a job that has ended, unless the job was resumed meanwhile.

    Raises StorageError.
    """
    with suppress(Stale):  # it was resumed meanwhile
        # The job is updated first: if it is resumed, it must not find a part of its package.
        expect = {"state": job.state, "parts": job.parts}
        await commit_confirmed(
            service.store, Update(JOBS, job.id, set={"parts": 0}, expect=expect)
        )
        await package_chunks.drop(service, job.id)


async def drop_report(service: Service, job: Job) -> None:
    """Removes the stored problems and outcomes of a job's rows. Raises StorageError."""
    await _empty(service, JOB_PROBLEMS, job.id, "key")
    await _empty(service, JOB_BATCHES, job.id, "first")


async def _forget(service: Service, job: Job) -> None:
    await drop_report(service, job)
    await package_chunks.drop(service, job.id)
    found = await service.store.get(JOBS, job.id)
    if found is None:
        return
    now = service.clock.now()
    writes = versioned_updates.removal(
        service, JOBS, found, AuditEntry("import.deleted", job.actor, now)
    )
    with suppress(Stale):
        await commit_confirmed(service.store, *writes)


async def _empty(service: Service, collection: Collection[Any], job_id: str, order: str) -> None:
    """Removes a job's records of a collection, one page per round."""
    while True:
        page = await service.store.find(
            collection, {"job_id": job_id}, order=order, limit=_AT_ONCE
        )
        if not page.records:
            return
        await service.store.commit_each([[Delete(collection, one.id)] for one in page.records])
