"""The call that lists the tasks of the schedule."""

from __future__ import annotations

from datetime import datetime

from idp.background.schedule import JOBS
from idp.foundation import durations
from idp.management.call import Call
from idp.records import LEASES
from idp.schema.answers import Answer
from idp.search.paging import ListDetails
from idp.service import Service


class ScheduledJobView(Answer, frozen=True, kw_only=True):
    """A scheduled task. `next_turn` is the latest time at which it runs next; without it, the task
    is due now.
    """

    name: str
    interval: str
    next_turn: datetime | None = None


class ScheduledJobs(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[ScheduledJobView] = []


async def find_all(service: Service, call: Call) -> ScheduledJobs:
    """Returns the tasks of the schedule, with their intervals and the time when each is due
    again."""
    leases = await service.store.get_many([(LEASES, name) for name in JOBS])
    jobs = [
        ScheduledJobView(
            name=name,
            interval=durations.text(max(1, round(job.interval_seconds))),
            next_turn=lease.expires_at if lease else None,
        )
        for (name, job), lease in zip(JOBS.items(), leases, strict=True)
    ]
    return ScheduledJobs(details=ListDetails(total_result=str(len(jobs))), result=jobs)
