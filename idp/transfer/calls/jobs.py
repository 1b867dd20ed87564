"""The calls of /admin/v1/jobs: progress of imports, problems of their rows, cancelling,
resuming.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Final, get_args

from idp.changes import Change
from idp.foundation.errors import FailedPrecondition, FieldProblem, InvalidArgument, NotFound
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import MAX_FILTERS, Search, SearchDetails
from idp.records.jobs import JOB_PROBLEMS, JOBS, Job, JobState
from idp.schema.answers import Answer
from idp.schema.field_rules import Integer, Items, OneOf, Text
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service
from idp.transfer.calls import import_answer
from idp.transfer.calls.import_answer import ImportProblem
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs import runner as job_runner
from idp.transfer.jobs import view as job_view
from idp.transfer.jobs.view import JobView
from storage import Cursor, Update

_STATES: Final = {job_lifecycle.STATES[state]: state for state in get_args(JobState)}
_KEY: Final = re.compile(r"[0-9]{12}\.[0-9]{2}")
MAX_LIMIT: Final = 1000


class JobsFound(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[JobView] = []
    next_cursor: str = ""


class JobStateQuery(Request, frozen=True, kw_only=True):
    """A filter by the state of a job. One that waits for the caller who has its file is
    queued or running.
    """

    state: Annotated[str, OneOf(tuple(_STATES))]


class JobQuery(Request, frozen=True, kw_only=True):
    """A filter: exactly one member must be sent."""

    state_query: JobStateQuery | None = None

    def check(self) -> Iterator[FieldProblem]:
        if self.state_query is None:
            yield FieldProblem("field.required", "", "must contain one filter")


class JobSearch(Search, frozen=True, kw_only=True):
    """A search for the records that match all filters."""

    queries: Annotated[list[JobQuery], Items(MAX_FILTERS)] = []


class ProblemPage(Request, frozen=True, kw_only=True):
    """The requested page of a job's problems: up to `limit` of them after `cursor`."""

    cursor: Annotated[str, Text()] = ""
    limit: Annotated[int, Integer(1, MAX_LIMIT)] = 100


class Problems(Answer, frozen=True, kw_only=True):
    """A page of problems. `nextCursor` is present if there are more, or more may come."""

    result: list[ImportProblem] = []
    next_cursor: str = ""


async def show(service: Service, call: Call, job_id: str) -> JobView:
    """Returns a job and its progress. Raises NotFound."""
    return await job_view.view(service, await _find(service, job_id))


async def search(service: Service, call: Call, request: JobSearch) -> JobsFound:
    """Returns the jobs of the last thirty days that match the query, a page at a time. Raises
    InvalidArgument (the cursor)."""
    filters = [
        Filter(path="state", value=_STATES[each.state_query.state])
        for each in request.queries
        if each.state_query
    ]
    page = await management_search.find(service, JOBS, request.query, filters, order="created_at")
    return JobsFound(
        details=page.details,
        result=await job_view.views(service, page.records),
        next_cursor=page.next_cursor,
    )


async def errors(service: Service, call: Call, job_id: str, request: ProblemPage) -> Problems:
    """Returns a page of the errors and warnings of a job's rows, in the order of the rows.

    Raises NotFound, InvalidArgument (the cursor).
    """
    job = await _find(service, job_id)
    page = await service.store.find(
        JOB_PROBLEMS,
        {"job_id": job.id},
        order="key",
        limit=request.limit,
        after=_position(job, request.cursor),
    )
    return Problems(
        result=[import_answer.problem(record) for record in page.records],
        next_cursor=page.records[-1].key if page.after else "",
    )


def _position(job: Job, cursor: str) -> Cursor | None:
    if not cursor:
        return None
    if not _KEY.fullmatch(cursor):
        message = "is not a cursor of this list"
        raise InvalidArgument([FieldProblem("query.cursor", "cursor", message)])
    return cursor, f"{job.id}.{cursor}"


async def cancel(service: Service, call: Call, job_id: str) -> Change[JobView]:
    """Ends a job before its next batch; stored records remain, and the job can be resumed.

    Raises NotFound; FailedPrecondition if it has ended.
    """
    job = await _find(service, job_id)
    if job.state not in job_lifecycle.WAITING:
        raise _ended()

    async def end() -> JobView:
        if not job_lifecycle.is_held(job, service.clock.now()):
            hold = await job_lifecycle.claim(service, job, service.random.id())
            if hold is not None:
                await hold.end("cancelled")
        return await job_view.view(service, await _find(service, job_id))

    answer = await job_view.view(service, job)
    return Change(answer, [Update(JOBS, job.id, set={"is_to_stop": True})], then=end)


async def resume(service: Service, call: Call, job_id: str) -> Change[JobView]:
    """Resumes a job that was cancelled, or that failed because of the service.

    Raises NotFound; FailedPrecondition if all its rows are processed, its package was removed, or
    it reads a file on the machine of the caller who started it.
    """
    job = await _find(service, job_id)
    if not job_lifecycle.can_be_resumed(job):
        raise _ended()
    if job.source is not None:
        message = "it reads a file: resume it with `idp import FILE --resume` on that machine"
        raise FailedPrecondition(message, error_code="job.reads_file")
    resumption = job_lifecycle.resumption(service, call.actor, job)
    answer = await job_view.view(service, resumption.answer)
    return Change(answer, resumption.writes, [partial(job_runner.wake, service)])


async def _find(service: Service, job_id: str) -> Job:
    job = await service.store.get(JOBS, job_id)
    if job is None:
        raise NotFound("there is no such job", error_code="job.not_found")
    return job


def _ended() -> FailedPrecondition:
    return FailedPrecondition("the job has ended", error_code="job.ended")
