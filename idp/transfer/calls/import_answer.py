"""The answer of an import: what was stored, by organization and kind, and what was refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from idp.records.jobs import JOB_BATCHES, JOB_PROBLEMS, Job, JobProblem
from idp.schema.answers import Answer
from idp.service import Service
from idp.transfer.jobs import lifecycle as job_lifecycle
from storage import Cursor

MAX_LISTED: Final = 10_000  # rows of each list; the pages of the job contain all
_PAGE_SIZE: Final = 500

# By type: the list in the answer, and the names of an element's parts where it is not a single id.
_LISTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "project": ("projectIds", ()),
    "project_role": ("projectRoles", ()),
    "oidc_app": ("oidcAppIds", ()),
    "api_app": ("apiAppIds", ()),
    "human_user": ("humanUserIds", ()),
    "machine_user": ("machineUserIds", ()),
    "user_grant": ("userGrants", ("projectId", "userId")),
    "org_member": ("orgMembers", ()),
    "user_link": ("userLinks", ("userId", "idpId", "externalUserId")),
    "user_metadata": ("userMetadata", ("userId", "key")),
    "domain": ("domains", ()),
    "app_key": ("appKeys", ()),
    "machine_user_key": ("machineKeys", ()),
}


class ImportProblem(Answer, frozen=True, kw_only=True):
    """A problem with a row: `message` describes it, and `fix` says what can be done about it. A
    row whose problems are all warnings is stored, unless this service has no place for it.
    """

    row: int
    path: str
    type: str
    id: str
    error_code: str = msgspec.field(name="slug")
    field: str
    message: str
    fix: str
    is_warning: bool = False


class ImportSuccess(Answer, frozen=True, kw_only=True):
    """The records that were stored. Each organization has its `orgId`, and under the names of the
    lists the ids of what was stored in it: `humanUserIds`, `projectIds` and so on.
    """

    orgs: list[dict[str, Any]] = []


class Imported(Answer, frozen=True, kw_only=True):
    """`state` is that of the job: after the timeout the job continues, as JOB_STATE_RUNNING. At
    most ten thousand rows are listed; with `isCut` the pages of the job have more.
    """

    job_id: str
    state: str
    errors: list[ImportProblem] = []
    warnings: list[ImportProblem] = []
    success: ImportSuccess
    total: int = 0
    created: int = 0
    updated: int = 0
    skipped: int = 0
    failed: int = 0
    is_cut: bool = False


async def of_job(service: Service, job: Job) -> Imported:
    """Returns the answer to an import call: the records that its job has stored, and the rows that
    it has refused so far."""
    problems, is_cut = await _problems(service, job)
    created, is_records_cut = await _stored_records(service, job)
    return _answer(job, problems, created, is_cut=is_cut or is_records_cut)


def of_new_job(job: Job) -> Imported:
    """Returns the answer to an import call whose job has not stored or refused anything yet."""
    return _answer(job, [], [], is_cut=False)


def _answer(
    job: Job, problems: list[JobProblem], created: list[dict[str, Any]], *, is_cut: bool
) -> Imported:
    return Imported(
        job_id=job.id,
        state="JOB_STATE_RUNNING"
        if job.state in job_lifecycle.WAITING
        else job_lifecycle.STATES[job.state],
        errors=[problem(job_problem) for job_problem in problems if job_problem.is_error],
        warnings=[problem(job_problem) for job_problem in problems if not job_problem.is_error],
        success=ImportSuccess(orgs=created),
        total=job.total or 0,
        created=job.created,
        updated=job.updated,
        skipped=job.skipped,
        failed=job.failed,
        is_cut=is_cut,
    )


def problem(stored: JobProblem) -> ImportProblem:
    """Returns the stored problem of a row in the form that answers contain."""
    return ImportProblem(
        row=stored.row,
        path=stored.path,
        type=stored.type,
        id=stored.record_id,
        error_code=stored.error_code,
        field=stored.field,
        message=f"{stored.field}: {stored.message}" if stored.field else stored.message,
        fix=stored.fix,
        is_warning=not stored.is_error,
    )


async def _problems(service: Service, job: Job) -> tuple[list[JobProblem], bool]:
    problems: list[JobProblem] = []
    after: Cursor | None = None
    while len(problems) < MAX_LISTED:
        page = await service.store.find(
            JOB_PROBLEMS, {"job_id": job.id}, order="key", limit=_PAGE_SIZE, after=after
        )
        problems += page.records
        after = page.after
        if after is None:
            break
    return problems[:MAX_LISTED], after is not None or len(problems) > MAX_LISTED


async def _stored_records(service: Service, job: Job) -> tuple[list[dict[str, Any]], bool]:
    """Returns the stored records by organization, and whether there are more."""
    orgs: dict[str, dict[str, Any]] = {}
    count, after = 0, None
    while True:
        page = await service.store.find(
            JOB_BATCHES, {"job_id": job.id}, order="first", limit=10, after=after
        )
        for batch in page.records:
            for row_type, org_id, parts in batch.made:
                if count == MAX_LISTED:
                    return list(orgs.values()), True
                count += 1
                _add(orgs.setdefault(org_id, {"orgId": org_id}), row_type, parts)
        if page.after is None:
            return list(orgs.values()), False
        after = page.after


def _add(org: dict[str, Any], row_type: str, parts: list[str]) -> None:
    if row_type not in _LISTS:
        return
    name, names = _LISTS[row_type]
    # A composite id becomes an object with its parts.
    has_all_parts = len(names) == len(parts) > 0
    element = dict(zip(names, parts, strict=True)) if has_all_parts else "_".join(parts)
    org.setdefault(name, []).append(element)
