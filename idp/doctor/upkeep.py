"""Checks whether the service's background tasks keep up with their work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from idp.audit import retention
from idp.audit.event_types import STREAMS
from idp.audit.heads import KEYS, merged
from idp.doctor.check import MAX_NAMED, DoctorCheck, Finding, Installation, ok, warn
from idp.doctor.records import matching
from idp.foundation.i18n import message
from idp.records import DEFERRED_WORK, EVENTS, JOBS, AuditHead, Job

BACKLOG_WARNING_COUNT: Final = 1_000
_MAX_COUNT: Final = 100_000
_JOB_GRACE: Final = timedelta(minutes=10)
_DEFERRED_GRACE: Final = timedelta(hours=1)
_RETENTION_GRACE: Final = timedelta(days=1)
_LAST_ID: Final = chr(0x10FFFF)


async def sweep_backlog(installation: Installation) -> Finding:
    """Counts the expired records that should have been removed more than an hour ago, and warns if
    there are at least `BACKLOG_WARNING_COUNT`."""
    count = await installation.opened.count_overdue(up_to=_MAX_COUNT)
    least = "at least " if count == _MAX_COUNT else ""
    text = f"{least}{count} expired records have not been removed an hour after they were due"
    return Finding("warn" if count >= BACKLOG_WARNING_COUNT else "ok", text, count=count)


async def jobs_late(installation: Installation) -> Finding:
    """Checks that a process works on each import, and that deferred work was done in time."""
    now = installation.clock.now()
    late = [job.id for job in await _unattended_imports(installation, now)]
    deferred = await matching(
        installation, DEFERRED_WORK, lambda each: each.created_at < now - _DEFERRED_GRACE
    )
    text = (
        f"{len(late)} imports wait for a process, and {deferred.count} deferred tasks have waited"
        " for more than an hour"
    )
    names = [*late, *(f"{each.kind}: {each.owner_id}" for each in deferred.named)]
    count = len(late) + deferred.count
    return Finding("warn" if count else "ok", text, names[:MAX_NAMED], count)


async def _unattended_imports(installation: Installation, now: datetime) -> Sequence[Job]:
    """Returns the imports that no process works on, although no other import precedes them."""
    running, queued = [
        (await installation.opened.find(JOBS, {"state": state}, order="created_at")).records
        for state in ("running", "queued")
    ]
    abandoned = [job for job in running if (job.held_until or job.changed_at) < now - _JOB_GRACE]
    if len(running) > len(abandoned):
        return abandoned
    return [*abandoned, *(job for job in queued if job.created_at < now - _JOB_GRACE)]


async def events_retention(installation: Installation) -> Finding:
    """Checks that events are removed when their retention period has ended. Warns if removal has
    not begun yet after an upgrade."""
    now = installation.clock.now()
    days = retention.days_by_stream(installation.config)
    stored = merged(await installation.opened.get_many(KEYS))
    heads = {name: head for name, head in zip(STREAMS, stored, strict=True) if head is not None}
    retention_text = ", ".join(
        f"{name} {n} days" if n else f"{name} forever" for name, n in days.items()
    )
    if begins_at := retention.removal_begins_at(heads, days, now):
        start = f"from {begins_at:%Y-%m-%d} on, old events are removed"
        return warn(f"{start}; they are stored: {retention_text}")
    late = [
        name
        for name, head in heads.items()
        if days[name] and await _is_late(installation, head, now - timedelta(days[name]))
    ]
    if late:
        return warn(
            "events were not removed within a day after their retention period: "
            + ", ".join(late),
            fix=_KEEP_RUNNING.msgid,
        )
    return ok(f"events are stored: {retention_text}")


async def _is_late(installation: Installation, head: AuditHead, due_at: datetime) -> bool:
    """Whether the first event of a stream should have been removed a day ago."""
    page = await installation.opened.find(
        EVENTS, {"stream": head.id}, order="position", after=(head.floor, _LAST_ID), limit=1
    )
    return any(event.at < due_at - _RETENTION_GRACE for event in page.records)


_KEEP_RUNNING: Final = message(
    "Keep the service running: it does this automatically. If it is "
    "running, see its log for the cause.",
    context="safety",
)
CHECKS: Final = (
    DoctorCheck(
        id="sweep.backlog",
        area="upkeep",
        about=message("Expired records are removed on time.", context="safety"),
        fix=message(
            "Keep the service running: it removes them automatically. If the "
            "number grows, the database is too slow.",
            context="safety",
        ),
        run=sweep_backlog,
        needs="records",
    ),
    DoctorCheck(
        id="jobs.late",
        area="upkeep",
        about=message("Imports and deferred work finish on time.", context="safety"),
        fix=_KEEP_RUNNING,
        run=jobs_late,
        needs="records",
    ),
    DoctorCheck(
        id="events.retention",
        area="upkeep",
        about=message("Events are removed on time, and not earlier.", context="safety"),
        fix=message(
            "Set audit_change_days, audit_access_days and audit_failure_days to the number of days"
            " for which you need events.",
            context="safety",
        ),
        run=events_retention,
        needs="records",
    ),
)
