"""Checks whether the service's background tasks keep up with their work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from idp.audit import retention
from idp.audit.event_types import STREAMS, stream_of
from idp.audit.heads import KEYS, merged
from idp.backup import series
from idp.doctor.check import MAX_NAMED, DoctorCheck, Finding, Installation, fail, ok, skipped, warn
from idp.doctor.records import matching
from idp.foundation.errors import ConfigError
from idp.foundation.i18n import message
from idp.records import (
    DEFERRED_WORK,
    EVENTS,
    JOBS,
    LOGOUT_MESSAGES,
    OUTBOX,
    SIGNING_KEYS,
    AuditHead,
    Event,
    Job,
    LogoutMessage,
    OutboxMessage,
)
from storage import Where

BACKLOG_WARNING_COUNT: Final = 1_000
_MAX_COUNT: Final = 100_000
# A key signs a little longer where its successor is not in every cache yet.
_KEY_GRACE: Final = timedelta(days=1)
_JOB_GRACE: Final = timedelta(minutes=10)
_DEFERRED_GRACE: Final = timedelta(hours=1)
_MESSAGE_GRACE: Final = timedelta(minutes=15)
_BACKUP_GRACE: Final = timedelta(hours=26)
_FIRST_BACKUP: Final = (
    "Create one with idp backup --into and this directory, and then every hour with a timer:"
    " see docs/how-to/backup.md."
)
_SEAL_GRACE: Final = timedelta(minutes=5)
_RETENTION_GRACE: Final = timedelta(days=1)
_LAST_ID: Final = chr(0x10FFFF)
_FAILURE_COUNT_PERIOD: Final = timedelta(minutes=15)
_UNSEALED: Final[Where] = {"stream": None, "position": None}
_UNSEALED_READ: Final = 200


async def sweep_backlog(installation: Installation) -> Finding:
    """Counts the expired records that should have been removed more than an hour ago, and warns if
    there are at least `BACKLOG_WARNING_COUNT`."""
    count = await installation.opened.count_overdue(up_to=_MAX_COUNT)
    least = "at least " if count == _MAX_COUNT else ""
    text = f"{least}{count} expired records have not been removed an hour after they were due"
    return Finding("warn" if count >= BACKLOG_WARNING_COUNT else "ok", text, count=count)


async def keys_age(installation: Installation) -> Finding:
    """Checks that no key signs or seals for longer than `key_rotation_seconds`."""
    now = installation.clock.now()
    signs_for = timedelta(seconds=installation.config.key_rotation_seconds)
    keys = [key async for key in installation.opened.scan(SIGNING_KEYS, {"state": "active"})]
    if not keys:
        return skipped("there are no keys yet")
    oldest = min(key.changed_at for key in keys)
    overdue_ids = [key.id for key in keys if key.changed_at + signs_for + _KEY_GRACE < now]
    text = f"the oldest of {len(keys)} active keys has been in use for {_age(now - oldest)}"
    if not overdue_ids:
        return ok(text)
    commands = ["idp keys rotate"]
    return Finding("warn", text, overdue_ids[:MAX_NAMED], len(overdue_ids), commands)


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


async def outbox_age(installation: Installation) -> Finding:
    """Checks that no message has waited for more than 15 minutes."""
    now = installation.clock.now()
    oldest = [
        *(each.created_at for each in await _first_messages(installation)),
        # It may be due late because the application did not answer the previous attempts.
        *(each.due_at for each in await _first_logout_messages(installation)),
    ]
    if not oldest:
        return ok("no message waits to be sent")
    text = f"the oldest message that waits to be sent has waited for {_age(now - min(oldest))}"
    return warn(text) if min(oldest) < now - _MESSAGE_GRACE else ok(text)


async def _first_messages(installation: Installation) -> Sequence[OutboxMessage]:
    return [
        record
        for state in ("queued", "sending")
        for record in (
            await installation.opened.find(OUTBOX, {"state": state}, order="created_at", limit=1)
        ).records
    ]


async def _first_logout_messages(installation: Installation) -> Sequence[LogoutMessage]:
    waiting = await installation.opened.find(
        LOGOUT_MESSAGES, {"state": "waiting"}, order="due_at", limit=1
    )
    return waiting.records


async def backup_age(installation: Installation) -> Finding:
    """Checks that the newest backup in `backup_dir` was made in the last 26 hours."""
    directory = installation.config.backup_dir
    if directory is None:
        return skipped("the setting backup_dir is not set")
    try:
        newest = series.read_last(Path(directory))
    except ConfigError as error:
        return fail(" ".join(error.problems))
    if newest is None:
        return warn(f"there is no backup in {directory}", fix=_FIRST_BACKUP)
    age = installation.wall_clock.now() - newest.made_at
    text = f"the newest backup, {newest.file}, was made {_age(age)} ago"
    return warn(text) if age > _BACKUP_GRACE else ok(text)


async def audit_lag(installation: Installation) -> Finding:
    """Checks that events are sealed within 5 minutes, and counts of refused attempts within 5
    minutes after they are complete.
    """
    now = installation.clock.now()
    page = await installation.opened.find(EVENTS, _UNSEALED, limit=_UNSEALED_READ)
    waiting = [now - event.at - _complete_after(event) for event in page.records]
    longest = max(waiting, default=timedelta(0))
    if longest <= _SEAL_GRACE:
        return ok("every event older than 5 minutes is sealed")
    return warn(f"the oldest event that is not sealed has waited for {_age(longest)}")


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


def _complete_after(event: Event) -> timedelta:
    """Returns how long after its timestamp an event may still change; it is not sealed before."""
    return _FAILURE_COUNT_PERIOD if stream_of(event.type) == "failure" else timedelta(0)


def _age(age: timedelta) -> str:
    """Returns a duration in its largest unit; a negative one as 0 seconds."""
    seconds = max(0, int(age.total_seconds()))
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"


_KEEP_RUNNING: Final = message(
    "Keep the service running: it does this automatically. If it is "
    "running, see its log for the cause.",
    context="safety",
)
CHECKS: Final = (
    DoctorCheck(
        id="sweep.backlog",
        area="upkeep",
        about=message("Expired records are removed in time.", context="safety"),
        fix=message(
            "Keep the service running: it removes them automatically. If the "
            "number grows, the database is too slow.",
            context="safety",
        ),
        run=sweep_backlog,
        needs="records",
    ),
    DoctorCheck(
        id="keys.age",
        area="upkeep",
        about=message("Every key is replaced on time.", context="safety"),
        fix=_KEEP_RUNNING,
        run=keys_age,
        needs="records",
    ),
    DoctorCheck(
        id="jobs.late",
        area="upkeep",
        about=message("Imports and deferred work are done in time.", context="safety"),
        fix=_KEEP_RUNNING,
        run=jobs_late,
        needs="records",
    ),
    DoctorCheck(
        id="outbox.age",
        area="upkeep",
        about=message("Messages are sent within 15 minutes.", context="safety"),
        fix=message(
            "Compare the settings of the mail server and the SMS hook with "
            "the reasons for the refusals.",
            context="safety",
        ),
        run=outbox_age,
        needs="records",
    ),
    DoctorCheck(
        id="backup.age",
        area="upkeep",
        about=message("The newest backup is at most 26 hours old.", context="safety"),
        fix=message(
            "See the log of the backup timer for why the last backup failed.",
            context="safety",
        ),
        run=backup_age,
    ),
    DoctorCheck(
        id="audit.lag",
        area="upkeep",
        about=message("Events are sealed within 5 minutes.", context="safety"),
        fix=_KEEP_RUNNING,
        run=audit_lag,
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
