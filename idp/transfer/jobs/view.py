"""The state of a job in answers: the outcomes of its rows, its rate, and how to resume it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from idp.foundation import durations
from idp.records import USERS
from idp.records.jobs import Job
from idp.schema.answers import Answer
from idp.service import Service
from idp.transfer.jobs import lifecycle as job_lifecycle

INTERRUPTED: Final = "JOB_STATE_INTERRUPTED"


class JobView(Answer, frozen=True, kw_only=True):
    """A job. `done` of `total` rows are done: created, updated, skipped because they existed
    already, or failed; `warned` of them have a warning. `total` is present once the package was
    read. While a process works on the job, it `isHeld`, and has the number of rows per second and
    the time that the others take at that rate; one that was cancelled meanwhile `isStopping`.
    `dryRun`, `update` and `fix` are the options of the import. `reason` says why the job failed as
    a whole, and `field` where in the package. A job that ended before its last row and can be
    resumed has the command for that in `resumedBy`; one with a `source`, a file of some machine,
    can be resumed only there. If the process that worked on such a job has ended, the job's state
    is JOB_STATE_INTERRUPTED.
    """

    id: str
    type: str = ""
    state: str
    creation_date: datetime
    change_date: datetime
    finish_date: datetime | None = None
    total: int = 0
    done: int = 0
    created: int = 0
    updated: int = 0
    skipped: int = 0
    failed: int = 0
    warned: int = 0
    dry_run: bool = False
    update: bool = False
    fix: bool = False
    is_held: bool = False
    is_stopping: bool = False
    resumed_by: str = ""
    rows_per_second: float = 0.0
    remaining_time: str = ""
    actor: str = ""
    actor_name: str = ""
    source: str = ""
    error_code: str = msgspec.field(default="", name="slug")
    field: str = ""
    reason: str = ""


async def view(service: Service, job: Job) -> JobView:
    """Returns a job in the form in which answers contain it."""
    (job_view,) = await views(service, [job])
    return job_view


async def views(service: Service, jobs: Sequence[Job]) -> list[JobView]:
    """Returns jobs in the form in which answers contain them, with the names of the users who
    started them."""
    actors = list({job.actor for job in jobs})
    users = await service.store.get_many([(USERS, user_id) for user_id in actors])
    names = {
        user_id: user.profile.display_name or user.user_name
        for user_id, user in zip(actors, users, strict=True)
        if user is not None
    }
    now = service.clock.now()
    return [_view(job, now, names.get(job.actor, "")) for job in jobs]


def _view(job: Job, now: datetime, actor_name: str) -> JobView:
    rate, waits_for_file = _rate(job, now), job_lifecycle.waits_for_file(job, now)
    return JobView(
        id=job.id,
        type="JOB_TYPE_IMPORT",
        state=INTERRUPTED if waits_for_file else job_lifecycle.STATES[job.state],
        creation_date=job.created_at,
        change_date=job.changed_at,
        finish_date=job.finished_at,
        total=job.total or 0,
        done=job.position,
        created=job.created,
        updated=job.updated,
        skipped=job.skipped,
        failed=job.failed,
        warned=job.warned,
        dry_run=job.options.is_dry_run,
        update=job.options.updates,
        fix=job.options.mends,
        is_held=job_lifecycle.is_held(job, now),
        is_stopping=job.is_to_stop,
        resumed_by=_resume_command(job)
        if waits_for_file or job.state in job_lifecycle.RESUMABLE
        else "",
        rows_per_second=rate.rows_per_second,
        remaining_time=rate.remaining_time,
        actor=job.actor,
        actor_name=actor_name,
        source=job.source or "",
        error_code=job.reason_slug or "",
        field=job.reason_field or "",
        reason=job.reason or "",
    )


def _resume_command(job: Job) -> str:
    if not job_lifecycle.can_be_resumed(job):
        return ""
    if job.source is None:
        return f"idp job resume {job.id}"
    options = job.options
    flags = {"dry-run": options.is_dry_run, "update": options.updates, "fix": options.mends}
    set_flags = "".join(f" --{name}" for name, is_set in flags.items() if is_set)
    return f"idp import {shlex.quote(job.source)}{set_flags} --resume"


class _Rate(NamedTuple):
    """The current rate of a job; zero and empty where it is unknown."""

    rows_per_second: float = 0.0
    remaining_time: str = ""


def _rate(job: Job, now: datetime) -> _Rate:
    """Returns the rate over the rows since the job was claimed, up to the last stored one."""
    if job.state != "running" or job.worked_since is None or not job_lifecycle.is_held(job, now):
        return _Rate()
    seconds = (job.changed_at - job.worked_since).total_seconds()
    rows = job.position - job.worked_from
    if seconds <= 0 or rows <= 0:
        return _Rate()
    remaining_seconds = ((job.total or 0) - job.position) * seconds / rows
    return _Rate(round(rows / seconds, 1), durations.text(round(remaining_seconds)))
