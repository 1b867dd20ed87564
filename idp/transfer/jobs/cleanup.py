"""Removal of packages whose jobs have ended, and of jobs after thirty days."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.records.jobs import JOB_BATCHES, JOB_PROBLEMS, JOBS, Job
from idp.search import paging
from idp.service import Service
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.package import chunks as package_chunks
from storage import Collection, Delete, Stale, Update
from storage.confirmed_commit import commit_confirmed

EVERY_SECONDS: Final = 60.0
RETENTION: Final = timedelta(days=30)
RESUMABLE_PERIOD: Final = timedelta(days=1)  # after a cancellation
_BATCH_SIZE: Final = 500


async def clean_up(service: Service) -> None:
    """Removes the packages of jobs that can't be resumed any more, and jobs thirty days after
    their end; a task of the schedule (`idp/background/schedule.py`) calls it.

    Raises StorageError.
    """
    now = service.clock.now()
    async for job in paging.each(service, JOBS, {}):
        # A job that waits for its file has not ended, so the time counts from its last change.
        if job_lifecycle.waits_for_file(job, now) and now - job.changed_at > RETENTION:
            await _remove_job(service, job)
        if job.state in job_lifecycle.WAITING or job.finished_at is None:
            continue
        if job.parts and not _can_be_resumed(job, job.finished_at, now):
            await remove_package(service, job)
        if now - job.finished_at > RETENTION:
            await _remove_job(service, job)


def _can_be_resumed(job: Job, finished_at: datetime, now: datetime) -> bool:
    return job.state in job_lifecycle.RESUMABLE and now - finished_at <= RESUMABLE_PERIOD


async def remove_package(service: Service, job: Job) -> None:
    """Removes the stored package of a job that has ended, unless the job was resumed meanwhile.

    Raises StorageError.
    """
    with suppress(Stale):  # it was resumed meanwhile
        # The job is updated first: if it is resumed, it must not find a part of its package.
        expect = {"state": job.state, "parts": job.parts}
        await commit_confirmed(
            service.store, Update(JOBS, job.id, set={"parts": 0}, expect=expect)
        )
        await package_chunks.delete(service, job.id)


async def remove_report(service: Service, job: Job) -> None:
    """Removes the stored problems and outcomes of a job's rows. Raises StorageError."""
    await _remove_records(service, JOB_PROBLEMS, job.id, "key")
    await _remove_records(service, JOB_BATCHES, job.id, "first")


async def _remove_job(service: Service, job: Job) -> None:
    await remove_report(service, job)
    await package_chunks.delete(service, job.id)
    stored = await service.store.get(JOBS, job.id)
    if stored is None:
        return
    now = service.clock.now()
    writes = events.removal(
        service.random, JOBS, stored, AuditEntry("import.deleted", job.actor, now)
    )
    with suppress(Stale):
        await commit_confirmed(service.store, *writes)


async def _remove_records(
    service: Service, collection: Collection[Any], job_id: str, order: str
) -> None:
    """Removes a job's records of a collection, page by page."""
    while True:
        page = await service.store.find(
            collection, {"job_id": job_id}, order=order, limit=_BATCH_SIZE
        )
        if not page.records:
            return
        await service.store.commit_each(
            [[Delete(collection, record.id)] for record in page.records]
        )
