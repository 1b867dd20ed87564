"""The processing of a job: its package is opened, and its rows are processed from the stored
position.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from idp import test_mode
from idp.foundation import logs
from idp.foundation.errors import DiskFull, InvalidArgument
from idp.foundation.randomness import BufferedRandom, SequentialIds
from idp.records import ALL, SCHEMA
from idp.records.jobs import Job
from idp.service import Service
from idp.transfer.jobs import cleanup as job_cleanup
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs import pipeline as job_pipeline
from idp.transfer.jobs.lifecycle import Hold, HoldLost
from idp.transfer.jobs.pipeline import OutcomesTask
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.package import chunks as package_chunks
from idp.transfer.package import local_files, scratch
from idp.transfer.package.chunks import PackageLost
from idp.transfer.package.format import open_package
from idp.transfer.package.rows import Row
from storage import Unavailable, Unknown, open_store
from storage.overlay import Overlay

BATCH_ROWS: Final = 1000
_MAX_ATTEMPTS: Final = 60  # in a row, while the store can't be reached
_PAUSE_SECONDS: Final = 1.0

_log: Final = logs.logger(__name__)


class OpenedPackage(Protocol):
    """A package that was read and validated: the number of its rows (`total`), the options next to
    its organizations (`envelope_options`), and its rows in batches
    (`idp/transfer/package/format.py`).
    """

    @property
    def total(self) -> int: ...

    @property
    def envelope_options(self) -> Mapping[str, object]: ...

    def batches(self, skip: int, size: int) -> Iterator[list[Row]]: ...


Open = Callable[[Path, Path], OpenedPackage]


def wake(service: Service) -> None:
    """Starts work on waiting jobs, in the import process where there is one, else in this
    process.
    """
    if service.wake_importer is not None:
        service.wake_importer()
    else:
        service.background_tasks.start(work_due(service))


async def work_due(service: Service, *, is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Works on every waiting job, the oldest first, until none remains or `is_stopping` returns
    true because this process ends.

    Raises Unavailable or Unknown if the store can't be reached for long.
    """
    while not is_stopping() and (job := await job_lifecycle.next_job(service)) is not None:
        hold = await job_lifecycle.claim(service, job, service.random.id())
        if hold is not None:
            await work(service, hold, is_stopping=is_stopping)


async def work(
    service: Service,
    hold: Hold,
    open_package: Open = open_package,
    *,
    size: int = BATCH_ROWS,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Job:
    """Works on a held job, in batches of `size` rows, until it has ended, and returns its record.

    `open_package` opens the package in a file, with a directory for temporary files. The job is
    left to another process when `is_stopping` returns true, and when another process holds it
    already. Raises Unavailable or Unknown when the store can't be reached for long, or immediately
    if `is_stopping`.
    """

    async def open_job_package(directory: Path) -> OpenedPackage:
        return await _open_job_package(service, hold.job, directory, open_package)

    processing = _process_package(service, hold, open_job_package, size, is_stopping)
    return await _run(service, hold, processing)


async def work_on_read(
    service: Service, hold: Hold, package: OpenedPackage, *, size: int = BATCH_ROWS
) -> Job:
    """Works on a held job as `work` does, but on the `package` that the caller has opened."""

    async def open_job_package(_: Path) -> OpenedPackage:
        return package

    processing = _process_package(service, hold, open_job_package, size, lambda: False)
    return await _run(service, hold, processing)


async def _run(service: Service, hold: Hold, work: Awaitable[None]) -> Job:
    """Awaits the work, stores the reason if the job failed, and removes its package if it cannot
    be resumed."""
    try:
        async with _lease_renewed(hold):
            failure = await _failure(work)
        if failure is not None:
            await hold.end("failed", *failure)
        if hold.job.state not in job_lifecycle.WAITING and not job_lifecycle.can_be_resumed(
            hold.job
        ):
            await job_cleanup.remove_package(service, hold.job)
    except HoldLost:
        _log.info("another process works on the job", job=hold.job.id)
    return hold.job


async def _failure(work: Awaitable[None]) -> tuple[str, str, str] | None:
    """Returns why the whole job fails: an error code, a sentence, and the field concerned.

    Raises HoldLost, Unavailable and Unknown.
    """
    try:
        await work
    except InvalidArgument as error:
        return error.problems[0].error_code, error.message, error.problems[0].field
    except (DiskFull, PackageLost) as error:
        return error.error_code, error.message, ""
    except (HoldLost, Unavailable, Unknown):
        raise
    except Exception as error:  # one job's failure must not end the process
        _log.error("a job failed", exc_info=error)
        return job_lifecycle.INTERNAL, "the service failed", ""
    return None


async def _process_package(
    service: Service,
    hold: Hold,
    open_job_package: Callable[[Path], Awaitable[OpenedPackage]],
    size: int,
    is_stopping: Callable[[], bool],
) -> None:
    with scratch.directory() as directory:
        package = await open_job_package(directory)
        await _begin(service, hold, package.total)
        async with _planning_service(service, hold.job) as planning_service:
            context = ImportContext(planning_service, hold.job)
            await _process_batches_with_retries(context, hold, package, size, is_stopping)


async def _begin(service: Service, hold: Hold, total: int) -> None:
    # The overlay with the rows that were processed earlier no longer exists.
    if hold.job.options.is_dry_run and hold.job.position:
        await job_cleanup.remove_report(service, hold.job)
        await hold.restart()
    await hold.store_values(
        state="running",
        total=total,
        worked_since=service.clock.now(),
        worked_from=hold.job.position,
    )


@asynccontextmanager
async def _planning_service(service: Service, job: Job) -> AsyncIterator[Service]:
    """Provides the service that rows are stored in: for a dry run with an overlay that is
    discarded afterwards.
    """
    service = replace(service, random=BufferedRandom(service.random))
    if not job.options.is_dry_run:
        yield service
        return
    upper = open_store("memory://", now=service.clock.now, new_id=SequentialIds(service.random).id)
    layered = Overlay(service.store, upper)
    await layered.open((*ALL, *test_mode.COLLECTIONS) if service.config.test else ALL, SCHEMA)
    try:
        yield replace(service, store=layered)
    finally:
        await layered.close()


@asynccontextmanager
async def _lease_renewed(hold: Hold) -> AsyncIterator[None]:
    """Renews the lease within the block, however long a step takes."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(job_lifecycle.RENEWAL_INTERVAL_SECONDS)
            # The lease outlasts some failed renewals.
            with suppress(Unavailable, Unknown):
                await hold.renew()

    task = asyncio.create_task(renew())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _open_job_package(
    service: Service, job: Job, directory: Path, open_package: Open
) -> OpenedPackage:
    file = Path(job.source) if job.source else directory / "package.json"
    if job.source is None:
        await package_chunks.write(service, job, file)
    elif job.digest is not None:
        await asyncio.to_thread(local_files.check, file, job.digest)
    return await asyncio.to_thread(open_package, file, directory)


async def _process_batches_with_retries(
    context: ImportContext,
    hold: Hold,
    package: OpenedPackage,
    size: int,
    is_stopping: Callable[[], bool],
) -> None:
    attempts = 0
    while True:
        position = hold.job.position
        try:
            await _process_batches(context, hold, package, size, is_stopping)
        except (Unavailable, Unknown) as error:
            # Progress resets the limit, which is for a store that remains unreachable.
            attempts = 1 if hold.job.position > position else attempts + 1
            if attempts > _MAX_ATTEMPTS or is_stopping():
                raise
            _log.warning("a job is waiting for the store", job=hold.job.id, error=str(error))
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return


async def _process_batches(
    context: ImportContext,
    hold: Hold,
    package: OpenedPackage,
    size: int,
    is_stopping: Callable[[], bool],
) -> None:
    batches = package.batches(hold.job.position, size)
    processed = job_pipeline.processed_batches(
        context, lambda: asyncio.to_thread(next, batches, None)
    )
    # The outcomes of a batch are stored while the next batch is being stored. The rows of a batch
    # that was stored without its outcomes are recognized when they are processed again.
    writing = asyncio.create_task(asyncio.sleep(0))
    async with aclosing(processed):
        try:
            while not is_stopping():
                if await hold.should_stop():
                    await writing
                    await hold.end("cancelled")
                    return
                outcomes = await anext(processed, None)
                await writing
                if outcomes is None:
                    await hold.succeed()
                    return
                writing = asyncio.create_task(_store_outcomes(hold, outcomes))
        finally:
            await writing
    await hold.release()


async def _store_outcomes(hold: Hold, outcomes: OutcomesTask) -> None:
    await hold.store_outcomes(await outcomes)
