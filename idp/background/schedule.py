"""The tasks that are repeated in the background, each by one process at a time.

A process that finds a task due takes a *turn*: it inserts a lease with the task's name, and
afterwards sets the end of the lease to the instant at which the task is due again. So among all
processes each task runs once per interval, or again soon after it failed. The lease of a process
that ends during its turn expires.

To add a task, add a line to `JOBS`. It must tolerate an interruption anywhere, and must not block
the event loop: slow work belongs in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from idp import test_mode
from idp.audit import failure_events, sealing, upkeep
from idp.background import deferred_work, job_metrics, late_upgrades, read_only_store
from idp.credentials import rate_limits
from idp.foundation import logs
from idp.foundation.clock import is_past
from idp.mail import delivery as mail_delivery
from idp.management.organizations import removal as organization_removal
from idp.oauth import key_rotation
from idp.oauth.endpoints import back_channel
from idp.records import LEASES, Lease
from idp.service import Service
from idp.start import master_keys, resealing
from idp.transfer.jobs import cleanup as job_cleanup
from idp.usage import flushing as usage_flushing
from storage import Conflict, Insert, Stale, StorageError, Update, Value
from storage.confirmed_commit import commit_confirmed

POLL_SECONDS: Final = 2.0  # how often each process checks whether a task is due
MAX_RUN_SECONDS: Final = 60  # a run that takes longer is cancelled
RETRY_SECONDS: Final = 10  # a failed task is repeated after this time at the latest

_log = logs.logger(__name__)


class ScheduledJob(NamedTuple):
    """A repeated task: `work` is called with the service, and is due again `interval_seconds`
    after it succeeded.

    With `runs_in_each_process`, each process runs it without a lease once in the interval, because
    the task claims its items one by one; checking for them costs a read. With `has_work`, the task
    is due only if that returns true, so that a task of a short interval writes nothing while it
    has nothing to do.
    """

    interval_seconds: float
    work: Callable[[Service], Awaitable[None]]
    runs_in_each_process: bool = False
    has_work: Callable[[Service], Awaitable[bool]] | None = None


JOBS: Final[Mapping[str, ScheduledJob]] = {
    "keys": ScheduledJob(60, key_rotation.maintain),
    "master key": ScheduledJob(
        resealing.EVERY_SECONDS, resealing.reseal, has_work=resealing.has_work
    ),
    "leftovers": ScheduledJob(deferred_work.EVERY_SECONDS, deferred_work.process_due),
    "deleted organizations": ScheduledJob(
        organization_removal.EVERY_SECONDS, organization_removal.purge_deleted
    ),
    "imports": ScheduledJob(job_cleanup.EVERY_SECONDS, job_cleanup.clean_up),
    "outbox": ScheduledJob(
        mail_delivery.EVERY_SECONDS, mail_delivery.deliver_due, runs_in_each_process=True
    ),
    "audit seal": ScheduledJob(sealing.EVERY_SECONDS, sealing.seal, has_work=sealing.has_unsealed),
    "audit upkeep": ScheduledJob(upkeep.EVERY_SECONDS, upkeep.maintain),
    "logout messages": ScheduledJob(back_channel.EVERY_SECONDS, back_channel.deliver_due),
    "usage": ScheduledJob(
        usage_flushing.EVERY_SECONDS, usage_flushing.flush, runs_in_each_process=True
    ),
}


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[None]:
    """Runs every scheduled task when it is due, uses the master key in charge, completes an
    upgrade, and logs a warning while the store can't be written to, as long as the block lasts.
    """
    for name, job in JOBS.items():
        job_metrics.record_scheduled(name, job.interval_seconds)
    tasks = [
        asyncio.create_task(_repeat(service, name, job))
        for name, job in JOBS.items()
        if job.runs_in_each_process
    ]
    tasks.append(asyncio.create_task(_take_turns(service)))
    tasks.append(asyncio.create_task(read_only_store.warn(service.store)))
    tasks.append(asyncio.create_task(_flush_failure_counts(service)))
    tasks.append(asyncio.create_task(late_upgrades.run(service)))
    try:
        async with master_keys.following(service):
            yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _run_measured(service, "refused attempts", _LAST_FLUSH)


async def _flush_failure_counts(service: Service) -> None:
    """Stores this process's counts of refused attempts, once a second; never returns."""
    while True:
        await service.timer.sleep(rate_limits.EVERY_SECONDS)
        await _run_measured(service, "refused attempts", _FLUSH)


async def _flush(service: Service) -> None:
    await rate_limits.flush(service)
    await failure_events.flush(service)


async def _flush_last(service: Service) -> None:
    await rate_limits.flush(service)
    await failure_events.flush(service, is_last=True)


_FLUSH: Final = ScheduledJob(rate_limits.EVERY_SECONDS, _flush)
_LAST_FLUSH: Final = ScheduledJob(rate_limits.EVERY_SECONDS, _flush_last)


async def _repeat(service: Service, name: str, job: ScheduledJob) -> None:
    """Runs a task of every process periodically; never returns."""
    while True:
        await service.timer.sleep(job.interval_seconds)
        await _run_or_pause(service, name, take_turn(service, name, job))


async def _take_turns(service: Service) -> None:
    """Checks periodically which tasks are due, and starts their turns; never returns."""
    running_turns: dict[str, asyncio.Task[None]] = {}
    try:
        while True:
            await service.timer.sleep(POLL_SECONDS)
            running_turns = {name: turn for name, turn in running_turns.items() if not turn.done()}
            for name, lease in (await _due_or_none(service, running_turns.keys())).items():
                turn = take_turn_after(service, name, JOBS[name], lease)
                running_turns[name] = asyncio.create_task(_run_or_pause(service, name, turn))
    finally:
        for each in running_turns.values():
            each.cancel()
        await asyncio.gather(*running_turns.values(), return_exceptions=True)


async def _due_or_none(service: Service, excluded: Collection[str]) -> dict[str, Lease | None]:
    """Returns what `due` returns without the `excluded` tasks; after a pause nothing, if the store
    can't be read."""
    try:
        due_tasks = await due(service)
    except StorageError as error:
        _log.warning("background work waits for the store", job="all", error=str(error))
        await service.timer.sleep(RETRY_SECONDS)
        return {}
    return {name: lease for name, lease in due_tasks.items() if name not in excluded}


async def due(service: Service) -> dict[str, Lease | None]:
    """Returns the tasks that are due by their leases, each with its expired lease, None where it
    has none. One read finds all of them. Raises StorageError."""
    if service.config.test:
        await test_mode.synchronise(service)
    names = [name for name, job in JOBS.items() if not job.runs_in_each_process]
    leases: list[Lease | None] = await service.store.get_many([(LEASES, name) for name in names])
    now = service.clock.now()
    return {
        name: lease
        for name, lease in zip(names, leases, strict=True)
        if _is_free(lease, JOBS[name].interval_seconds, now)
    }


async def _run_or_pause(service: Service, name: str, turn: Awaitable[bool]) -> None:
    """Waits for a turn of the task; a pause follows if the store is not available."""
    try:
        await turn
    except StorageError as error:
        _log.warning("background work waits for the store", job=name, error=str(error))
        await service.timer.sleep(RETRY_SECONDS)


async def take_turn(service: Service, name: str, job: ScheduledJob) -> bool:
    """Runs the task `name` if it is due and no other process runs it; returns whether it ran and
    succeeded.

    Errors of the task are logged, and it is due again soon. Raises StorageError if its lease can't
    be read or taken.
    """
    if service.config.test:
        await test_mode.synchronise(service)
    # A read costs less than a refused write.
    before = None if job.runs_in_each_process else await service.store.get(LEASES, name)
    return await take_turn_after(service, name, job, before)


async def take_turn_after(
    service: Service, name: str, job: ScheduledJob, before: Lease | None
) -> bool:
    """Does what `take_turn` does; `before` is the lease of the task as it was read, None without
    one. The turn is only taken if the lease is still the same."""
    if job.runs_in_each_process:
        return await _run_measured(service, name, job)
    if job.has_work is not None and not await job.has_work(service):
        job_metrics.record_up_to_date(name, service.clock.now())
        return False
    lease = await _take_lease(service, name, job.interval_seconds, before)
    if lease is None:
        return False
    is_done = False
    try:
        is_done = await _run_measured(service, name, job)
    finally:
        interval = job.interval_seconds
        await _release(service, lease, interval if is_done else min(interval, RETRY_SECONDS))
    return is_done


async def _run_measured(service: Service, name: str, job: ScheduledJob) -> bool:
    """Runs the task; returns whether it succeeded."""
    began = service.timer.monotonic()
    is_done = await _run(service, name, job)
    job_metrics.record_run(name, service.timer.monotonic() - began, is_done=is_done)
    if is_done:
        job_metrics.record_up_to_date(name, service.clock.now())
    return is_done


async def _run(service: Service, name: str, job: ScheduledJob) -> bool:
    """Runs the task and logs its failure; returns whether there was none."""
    try:
        async with asyncio.timeout(MAX_RUN_SECONDS):
            await job.work(service)
    except StorageError as error:
        _log.warning("background work waits for the store", job=name, error=str(error))
    except Exception as error:  # the failure of one task must not end the process
        _log.error("background work failed", job=name, exc_info=error)
    else:
        return True
    return False


async def _take_lease(
    service: Service, name: str, interval_seconds: float, before: Lease | None
) -> Lease | None:
    """Returns the lease of a turn; None if the task is not due or another process has its turn."""
    now = service.clock.now()
    if not _is_free(before, interval_seconds, now):
        return None
    lease = Lease(
        id=name, holder=service.random.id(), expires_at=now + timedelta(seconds=MAX_RUN_SECONDS)
    )
    try:
        await commit_confirmed(service.store, _lease_write(lease, before))
    except (Conflict, Stale):
        return None
    return lease


def _is_free(lease: Lease | None, interval_seconds: float, now: datetime) -> bool:
    """Returns whether no process has the turn of a task, and its next one is due."""
    max_duration = timedelta(seconds=max(MAX_RUN_SECONDS, interval_seconds))
    return lease is None or is_past(lease.expires_at, now, max_duration)


def _lease_write(lease: Lease, before: Lease | None) -> Insert | Update:
    """Returns the write that takes a lease: an insertion, or an update of the lease `before`, if
    that is still as it was read."""
    if before is None:
        return Insert(LEASES, lease)
    values = {"holder": lease.holder, "expires_at": lease.expires_at}
    expected: dict[str, Value] = {"holder": before.holder, "expires_at": before.expires_at}
    return Update(LEASES, lease.id, set=values, expect=expected)


async def _release(service: Service, lease: Lease, due_in_seconds: float) -> None:
    due_at = service.clock.now() + timedelta(seconds=due_in_seconds)
    with suppress(Stale):  # the lease had expired before
        await service.store.commit(
            Update(LEASES, lease.id, set={"expires_at": due_at}, expect={"holder": lease.holder})
        )
