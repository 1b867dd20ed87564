"""The states of a job: started, held by one process at a time, resumed, ended.

The process that works on a job *holds* it: the job names it as the holder, with a lease of a few
seconds. The outcomes of rows and the position are stored in one unit, which requires that the
process still holds the job. So two processes never work on one job, and a job whose process has
ended can soon be claimed by another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from msgspec import structs

from idp import changes
from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation.errors import DiskFull, IdpError
from idp.records.jobs import (
    JOB_BATCHES,
    JOB_PROBLEMS,
    JOBS,
    Job,
    JobBatch,
    JobOptions,
    JobState,
)
from idp.service import Service
from idp.transfer.jobs.batches import ProcessedRow
from idp.transfer.package.chunks import PackageLost
from storage import Conflict, Insert, Stale, Update, Write
from storage.confirmed_commit import commit_confirmed

LEASE: Final = timedelta(seconds=15)
# Several renewals per lease, so that one failed write does not lose the job.
RENEWAL_INTERVAL_SECONDS: Final = 4.0
WAITING: Final[tuple[JobState, ...]] = ("queued", "running")
STATES: Final[Mapping[JobState, str]] = {
    "queued": "JOB_STATE_QUEUED",
    "running": "JOB_STATE_RUNNING",
    "succeeded": "JOB_STATE_SUCCEEDED",
    "finished_with_errors": "JOB_STATE_FINISHED_WITH_ERRORS",
    "failed": "JOB_STATE_FAILED",
    "cancelled": "JOB_STATE_CANCELLED",
}
DONE: Final[tuple[JobState, ...]] = ("succeeded", "finished_with_errors")
RESUMABLE: Final[tuple[JobState, ...]] = ("cancelled", "failed")
INTERNAL: Final = "internal"
MAX_WRITES: Final = 2000  # problems per unit
_COUNTS: Final = {"create": "created", "update": "updated", "skip": "skipped", "fail": "failed"}


class HoldLost(Exception):
    """The error that another process holds the job, so that this one must not write to it any
    more.
    """


class NotStarted(IdpError):
    """The error that the process which was to work on a job did not start."""

    error_code = "import.not_started"


# Failures after which another attempt may succeed.
_RETRYABLE_FAILURES: Final = (
    INTERNAL,
    DiskFull.error_code,
    NotStarted.error_code,
    PackageLost.error_code,
)


def new(
    service: Service,
    actor: str,
    options: JobOptions,
    *,
    holder: str | None = None,
    source: str | None = None,
) -> Job:
    """Returns a new record of a job, started by the user `actor`; the caller stores it with
    `begin`.

    With `holder`, the id of a process, that process holds the job immediately. `source` is the
    path of the imported file, or None for a package in the store.
    """
    now = service.clock.now()
    return Job(
        id=service.random.id(),
        state="queued",
        actor=actor,
        created_at=now,
        changed_at=now,
        options=options,
        source=source,
        holder=holder,
        held_until=now + LEASE if holder else None,
    )


def insertion(service: Service, job: Job) -> list[Write]:
    """Returns the writes that store a new job, with its audit event."""
    entry = AuditEntry("import.started", job.actor, job.created_at)
    return events.insertion(service.random, JOBS, job, entry)


async def begin(service: Service, job: Job) -> None:
    """Stores a new job, with its audit event. Raises StorageError."""
    await commit_confirmed(service.store, *insertion(service, job))


async def next_job(service: Service) -> Job | None:
    """Returns the oldest waiting job that no process holds; None if there is none.

    A job that reads a file of one machine is never returned, because it can only be continued
    there.
    """
    now = service.clock.now()
    for state in WAITING:
        page = await service.store.find(JOBS, {"state": state}, order="created_at")
        for job in page.records:
            if job.source is None and not is_held(job, now):
                return job
    return None


async def claim(service: Service, job: Job, holder: str) -> Hold | None:
    """Makes the process with the id `holder` the holder of the job, and returns the `Hold` by
    which it works on the job; None if another process was faster or the job has changed.
    """
    until = service.clock.now() + LEASE
    # Of two processes that claim the same job, one gets Stale.
    expect = {"state": job.state, "holder": job.holder, "held_until": job.held_until}
    try:
        await commit_confirmed(
            service.store,
            Update(JOBS, job.id, set={"holder": holder, "held_until": until}, expect=expect),
        )
    except Stale:
        return None
    return Hold(service, structs.replace(job, holder=holder, held_until=until))


def can_be_resumed(job: Job) -> bool:
    """Returns whether a job can be resumed or continued: it has not processed all its rows, its
    package was not refused, and the package still exists.
    """
    if job.state not in WAITING and job.state not in RESUMABLE:
        return False
    # The package itself was refused: another attempt would fail in the same way.
    if job.state == "failed" and job.reason_slug not in _RETRYABLE_FAILURES:
        return False
    return job.parts > 0 or job.source is not None


def is_held(job: Job, now: datetime) -> bool:
    """Returns whether a process holds the job at `now`."""
    return job.held_until is not None and job.held_until > now


def waits_for_file(job: Job, now: datetime) -> bool:
    """Returns whether a waiting job has lost its process and reads a file of one machine, so that
    it can only be resumed there.
    """
    return job.state in WAITING and job.source is not None and not is_held(job, now)


def resumption(service: Service, actor: str, job: Job) -> Change[Job]:
    """Returns the change that makes a cancelled or failed job wait for a process again, or
    withdraws the cancellation of a waiting one; the answer is the changed job. `actor` is the user
    who resumes it."""
    if job.state in WAITING:
        expect = {"state": job.state, "is_to_stop": True}
        withdrawal = Update(JOBS, job.id, set={"is_to_stop": False}, expect=expect)
        writes = [withdrawal] if job.is_to_stop else []
        return Change(structs.replace(job, is_to_stop=False), writes)
    values = {
        "state": "queued",
        "finished_at": None,
        "reason": None,
        "reason_slug": None,
        "reason_field": None,
    }
    update = changes.updated(service, changes.by(actor), JOBS, job, values, "import.resumed", "")
    return Change(update.record, update.writes)


class Hold:
    """The right of this process to work on a job, and the functions that change the job under it;
    `job` is its record as this process last stored it.
    """

    def __init__(self, service: Service, job: Job) -> None:
        self._service = service
        self.job = job

    async def renew(self) -> None:
        """Extends the lease of this process on the job; it may be called while another method
        writes to the job. Raises HoldLost, StorageError.
        """
        until = self._service.clock.now() + LEASE
        # Without the position, which may change concurrently.
        expected = {"holder": self.job.holder}
        await self._commit(Update(JOBS, self.job.id, set={"held_until": until}, expect=expected))

    async def store_values(self, **values: object) -> None:
        """Sets the named fields of the job's record. Raises HoldLost, StorageError."""
        await self._update_job(values, {})

    async def store_outcomes(self, processed: Sequence[ProcessedRow]) -> None:
        """Stores the outcomes of the next rows of the package: their problems, the ids of their
        records, their counts, and the number of the last one as the job's position. Raises
        HoldLost, StorageError.
        """
        for rows in _groups(processed):
            batch = [
                (row.type, row.row.org_id, [*row.parts])
                for row in rows
                if row.action in ("create", "update")
            ]
            writes: list[Write] = [
                Insert(JOB_PROBLEMS, problem)
                for row in rows
                for problem in row.job_problems(self.job.id)
            ]
            if batch:
                writes.append(Insert(JOB_BATCHES, self._batch(rows[0].row.number, batch)))
            await self._update_job({"position": rows[-1].row.number}, _counts(rows), writes)

    def _batch(self, first: int, created: list[tuple[str, str, list[str]]]) -> JobBatch:
        batch_id = f"{self.job.id}.{first:012}"
        return JobBatch(id=batch_id, job_id=self.job.id, first=first, made=created)

    async def restart(self) -> None:
        """Sets the position and the counts of the job back to zero, so that its package is
        processed from the first row. Raises HoldLost, StorageError.
        """
        await self._update_job({name: 0 for name in ("position", "warned", *_COUNTS.values())}, {})

    async def should_stop(self) -> bool:
        """Returns whether a cancellation of the job was requested. Raises HoldLost,
        StorageError."""
        job = await self._service.store.get(JOBS, self.job.id)
        if job is None or job.holder != self.job.holder:
            raise HoldLost
        return job.is_to_stop

    async def release(self) -> None:
        """Releases the job, so that any process can claim it. Raises StorageError."""
        free = {"holder": None, "held_until": None}
        # Another process holds it already.
        with suppress(Stale):
            await commit_confirmed(self._service.store, self._update(free, {}))

    async def end(
        self,
        state: JobState,
        error_code: str | None = None,
        reason: str | None = None,
        field: str | None = None,
    ) -> None:
        """Ends the job in `state`, with its audit event.

        `error_code`, `reason` and `field` are the reason why it failed as a whole. Raises
        HoldLost, StorageError.
        """
        service, job = self._service, self.job
        now = service.clock.now()
        values = {
            "state": state,
            "reason_slug": error_code,
            "reason": reason,
            "reason_field": field,
            "finished_at": now,
            "changed_at": now,
            "is_to_stop": False,
            "holder": None,
            "held_until": None,
        }
        counts = {name: str(getattr(job, name)) for name in _COUNTS.values()}
        entry = AuditEntry(
            "import.finished",
            job.actor,
            now,
            payload={"state": state, "dry_run": str(job.options.is_dry_run).lower(), **counts},
        )
        event = events.changed(service.random, JOBS, job, entry)
        await self._commit(self._update(values, {"sequence": 1}), event)
        self.job = structs.replace(job, **values, sequence=job.sequence + 1)

    async def succeed(self) -> None:
        """Ends the job after its last row, as finished with errors if a row failed, else as
        succeeded.

        Raises HoldLost, StorageError.
        """
        await self.end("finished_with_errors" if self.job.failed else "succeeded")

    async def _update_job(
        self,
        values: Mapping[str, object],
        counts: Mapping[str, int],
        further_writes: Sequence[Write] = (),
    ) -> None:
        now = self._service.clock.now()
        all_values = {**values, "changed_at": now, "held_until": now + LEASE}
        await self._commit(self._update(all_values, counts), *further_writes)
        new_counts = {name: getattr(self.job, name) + n for name, n in counts.items()}
        self.job = structs.replace(self.job, **all_values, **new_counts)

    def _update(self, values: Mapping[str, object], counts: Mapping[str, int]) -> Update:
        return Update(
            JOBS,
            self.job.id,
            set=values,
            increment=counts,
            # With the position, so that no row is counted twice.
            expect={"holder": self.job.holder, "position": self.job.position},
        )

    async def _commit(self, *writes: Write) -> None:
        try:
            await commit_confirmed(self._service.store, *writes)
        except (Stale, Conflict):
            raise HoldLost from None


def _groups(processed: Sequence[ProcessedRow]) -> Iterator[Sequence[ProcessedRow]]:
    """Yields the rows in groups whose problems fit into one unit."""
    start = size = 0
    for end, row in enumerate(processed):
        if size and size + len(row.problems) > MAX_WRITES:
            yield processed[start:end]
            start, size = end, 0
        size += len(row.problems)
    yield processed[start:]


def _counts(rows: Sequence[ProcessedRow]) -> dict[str, int]:
    counts = Counter(_COUNTS[row.action] for row in rows)
    counts["warned"] = sum(
        any(not row_problem.is_error for row_problem in row.problems) for row in rows
    )
    return {name: n for name, n in counts.items() if n}
