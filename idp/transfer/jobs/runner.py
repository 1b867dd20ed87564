"""The processing of a job: its package is opened, and its rows are processed from the stored
position.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from idp import test_mode
from idp.foundation import logs
from idp.foundation.errors import InvalidArgument
from idp.foundation.randomness import Numbered
from idp.records import ALL, SCHEMA
from idp.records.jobs import Job
from idp.service import Service
from idp.transfer.jobs import cleanup as job_cleanup
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs import pipeline as job_pipeline
from idp.transfer.jobs import workers
from idp.transfer.jobs.lifecycle import Hold, Lost
from idp.transfer.jobs.pipeline import BatchWorker, LocalBatchWorker, OutcomesFuture
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.package import chunks as package_chunks
from idp.transfer.package import local_files, scratch
from idp.transfer.package.chunks import PackageLost
from idp.transfer.package.format import open_package
from idp.transfer.package.rows import Row
from storage import Unavailable, Unknown, open_store
from storage.overlay import Overlay

BATCH_ROWS: Final = 1000
_TRIES: Final = 60  # attempts while the store can't be reached
_PAUSE_SECONDS: Final = 1.0

_log: Final = logs.logger(__name__)


class OpenedPackage(Protocol):
    """A package that was read and validated: the number of its rows (`total`), the options next to
    its organizations (`beside`), and its rows in batches (`idp/transfer/package/format.py`).
    """

    @property
    def total(self) -> int: ...

    @property
    def beside(self) -> Mapping[str, object]: ...

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


async def work_due(
    service: Service, *, helpers: int = 0, is_to_leave: Callable[[], bool] = lambda: False
) -> None:
    """Works on every waiting job, the oldest first, until none is left or `is_to_leave` returns
    true because this process is to end.

    `helpers` is the number of other processes that may help with each job. Raises Unavailable or
    Unknown if the store can't be reached for long.
    """
    while not is_to_leave() and (job := await job_lifecycle.due(service)) is not None:
        hold = await job_lifecycle.claim(service, job, service.random.id())
        if hold is not None:
            await work(service, hold, helpers=helpers, is_to_leave=is_to_leave)


async def work(
    service: Service,
    hold: Hold,
    open_package: Open = open_package,
    *,
    size: int = BATCH_ROWS,
    helpers: int = 0,
    is_to_leave: Callable[[], bool] = lambda: False,
) -> Job:
    """Works on a held job, in batches of `size` rows, until it has ended, and returns its record.

    `open_package` opens the package in a file, with a directory for temporary files. `helpers`
    other processes take part if the package is large (`idp/transfer/jobs/workers.py`). The job is
    left to another process when `is_to_leave` returns true, and when another process holds it
    already. Raises Unavailable or Unknown when the store can't be reached for long, or at once if
    `is_to_leave`.
    """

    async def opened(directory: Path) -> OpenedPackage:
        return await _opened(service, hold.job, directory, open_package)

    return await _until_ended(
        service, hold, _whole(service, hold, opened, size, helpers, is_to_leave)
    )


async def work_on_read(
    service: Service, hold: Hold, package: OpenedPackage, *, size: int = BATCH_ROWS
) -> Job:
    """Works on a held job as `work` does, but on the `package` that the caller has opened, and in
    this process alone.
    """

    async def opened(_: Path) -> OpenedPackage:
        return package

    whole = _whole(service, hold, opened, size, helpers=0, is_to_leave=lambda: False)
    return await _until_ended(service, hold, whole)


async def _until_ended(service: Service, hold: Hold, work: Awaitable[None]) -> Job:
    """Does the work, stores why a job failed, and removes the package of one that has ended."""
    try:
        async with _lease_renewed(hold):
            refusal = await _refusal(work)
        if refusal is not None:
            await hold.end("failed", *refusal)
        if hold.job.state not in job_lifecycle.WAITING and not job_lifecycle.can_go_on(hold.job):
            await job_cleanup.drop_package(service, hold.job)
    except Lost:
        _log.info("a job is worked on elsewhere", job=hold.job.id)
    return hold.job


async def _refusal(work: Awaitable[None]) -> tuple[str, str, str] | None:
    """Returns why the whole job fails: an error code, a sentence, and the field concerned.

    Raises Lost, Unavailable and Unknown.
    """
    try:
        await work
    except InvalidArgument as error:
        return error.problems[0].error_code, error.message, error.problems[0].field
    except PackageLost as error:
        return error.error_code, error.message, ""
    except (Lost, Unavailable, Unknown):
        raise
    except Exception as error:  # one job's failure must not end the process
        _log.error("a job failed", exc_info=error)
        return job_lifecycle.INTERNAL, "something failed on the side of the service", ""
    return None


async def _whole(
    service: Service,
    hold: Hold,
    opened: Callable[[Path], Awaitable[OpenedPackage]],
    size: int,
    helpers: int,
    is_to_leave: Callable[[], bool],
) -> None:
    others = workers.worth_starting(service, hold.job, _package_size(hold.job), helpers)
    with scratch.directory() as directory:
        # They start while the package is being read.
        async with workers.joining(ImportContext(service, hold.job), others) as batch_workers:
            package = await opened(directory)
            await _begin(service, hold, package.total)
            async with _planning_service(service, hold.job) as planning_service:
                # Without helpers, one batch is planned while another one waits for the store.
                own = 1 if others else 2
                batch_workers[:0] = [
                    LocalBatchWorker(ImportContext(planning_service, hold.job)) for _ in range(own)
                ]
                await _through(batch_workers, hold, package, size, is_to_leave)


async def _begin(service: Service, hold: Hold, total: int) -> None:
    # The overlay with the earlier rows no longer exists.
    if hold.job.options.is_dry_run and hold.job.position:
        await job_cleanup.drop_report(service, hold.job)
        await hold.begin_anew()
    await hold.store_values(
        state="running",
        total=total,
        worked_since=service.clock.now(),
        worked_from=hold.job.position,
    )


def _package_size(job: Job) -> int:
    """Returns the approximate size of a job's package; 0 where its file does not exist."""
    if job.source is None:
        return job.parts * package_chunks.PART_BYTES
    with suppress(OSError):
        return Path(job.source).stat().st_size
    return 0


@asynccontextmanager
async def _planning_service(service: Service, job: Job) -> AsyncIterator[Service]:
    """Provides the service that rows are stored in: for a dry run with an overlay that is
    discarded afterwards.
    """
    if not job.options.is_dry_run:
        yield service
        return
    upper = open_store("memory://", now=service.clock.now, new_id=Numbered(service.random).id)
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
            await asyncio.sleep(job_lifecycle.RENEWED_EVERY_SECONDS)
            # The lease outlasts some failed renewals.
            with suppress(Unavailable, Unknown):
                await hold.renew()

    task = asyncio.create_task(renew())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _opened(
    service: Service, job: Job, directory: Path, open_package: Open
) -> OpenedPackage:
    file = Path(job.source) if job.source else directory / "package.json"
    if job.source is None:
        await package_chunks.write(service, job, file)
    elif job.digest is not None:
        await asyncio.to_thread(local_files.check, file, job.digest)
    return await asyncio.to_thread(open_package, file, directory)


async def _through(
    batch_workers: Sequence[BatchWorker],
    hold: Hold,
    package: OpenedPackage,
    size: int,
    is_to_leave: Callable[[], bool],
) -> None:
    tries = 0
    while True:
        before = hold.job.position
        try:
            await _pass(batch_workers, hold, package, size, is_to_leave)
        except (Unavailable, Unknown) as error:
            # Progress resets the limit, which is for a store that remains unreachable.
            tries = 1 if hold.job.position > before else tries + 1
            if tries > _TRIES or is_to_leave():
                raise
            _log.warning("a job waits for the store", job=hold.job.id, error=str(error))
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return


async def _pass(
    batch_workers: Sequence[BatchWorker],
    hold: Hold,
    package: OpenedPackage,
    size: int,
    is_to_leave: Callable[[], bool],
) -> None:
    batches = package.batches(hold.job.position, size)
    processed = job_pipeline.processed_batches(
        batch_workers, lambda: asyncio.to_thread(next, batches, None)
    )
    async with aclosing(processed), _outcome_writer(hold) as writer:
        while not is_to_leave():
            if await hold.should_stop():
                await writer.done()
                await hold.end("cancelled")
                return
            outcomes = await anext(processed, None)
            await writer.done()
            if outcomes is None:
                await hold.succeed()
                return
            writer.begin(outcomes)
    await hold.release()


class _OutcomeWriter:
    """Stores the outcomes of a batch while the next batch is being stored.

    The rows of a batch that was stored without its outcomes are recognized when they are processed
    again.
    """

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._under_way: asyncio.Task[None] | None = None

    def begin(self, outcomes: OutcomesFuture) -> None:
        """Starts storing the outcomes of these rows, once the previous ones are `done`."""
        self._under_way = asyncio.create_task(self._store(outcomes))

    async def _store(self, outcomes: OutcomesFuture) -> None:
        await self._hold.store_outcomes(await outcomes)

    async def done(self) -> None:
        """Returns when all outcomes are stored. Raises Lost, StorageError."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            await under_way


@asynccontextmanager
async def _outcome_writer(hold: Hold) -> AsyncIterator[_OutcomeWriter]:
    """Provides the writer of outcomes, and awaits it after the block."""
    writer = _OutcomeWriter(hold)
    try:
        yield writer
    finally:
        await writer.done()
