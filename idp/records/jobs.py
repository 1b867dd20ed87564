"""Jobs: imports, which outlive the request that started them and the process that worked on
them."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

import msgspec
from msgspec import Struct

from storage import Collection, Record

JobState = Literal["queued", "running", "succeeded", "finished_with_errors", "failed", "cancelled"]


class JobOptions(Struct, frozen=True, kw_only=True):
    """The options of an import.

    With `is_dry_run` it only reports what it would do; with `updates` it changes records that
    exist already; with `mends` it corrects what can be corrected safely (spaces around a text, the
    case of a language tag).
    """

    is_dry_run: bool = False
    updates: bool = False
    mends: bool = False


class Job(Record):
    """An import. `position` rows are done: a process that resumes it begins with the next one.

    `holder` is the process at work until `held_until`; after that another one may take over.
    `parts` is the number of stored parts of the package (`PackagePart`); `source` is the local
    file that is read instead, `digest` the SHA-256 of the package. `total` is known once the
    package was scanned. `worked_since` is when the last process began with the rows, after row
    `worked_from`. `reason` is why the job failed as a whole, and `reason_field` its place in the
    package.
    """

    state: JobState
    actor: str
    created_at: datetime
    changed_at: datetime
    options: JobOptions = JobOptions()
    parts: int = 0
    source: str | None = None
    digest: str | None = None
    total: int | None = None
    position: int = 0
    worked_since: datetime | None = None
    worked_from: int = 0
    created: int = 0
    updated: int = 0
    skipped: int = 0
    failed: int = 0
    warned: int = 0
    is_to_stop: bool = False
    reason_slug: str | None = None
    reason_field: str | None = None
    reason: str | None = None
    holder: str | None = None
    held_until: datetime | None = None
    finished_at: datetime | None = None
    sequence: int = 1


class PackagePart(Record):
    """A part of the package of a waiting job, in base64; the id consists of the job's and a
    number.

    It is deleted when the job has ended.
    """

    job_id: str
    content: str


class JobProblem(Record):
    """A problem with a row of a job's package; `key` sorts problems by their rows.

    With `is_error` the row was refused, else it is stored and the problem is a warning.
    """

    job_id: str
    key: str
    row: int
    path: str
    type: str
    record_id: str
    is_error: bool
    error_code: str = msgspec.field(name="slug")
    field: str
    message: str
    fix: str


class JobBatch(Record):
    """The rows that a job stored in one batch, from row `first` on, for reports to its caller.

    `made` has (type, organization, parts of the id) for each row.
    """

    job_id: str
    first: int
    made: list[tuple[str, str, list[str]]] = []


JOBS: Final = Collection("jobs", Job, lists=(("state", "created_at"), ("created_at",)))
PACKAGE_PARTS: Final = Collection("package_parts", PackagePart, lists=(("job_id",),))
JOB_PROBLEMS: Final = Collection("job_problems", JobProblem, lists=(("job_id", "key"),))
JOB_BATCHES: Final = Collection("job_batches", JobBatch, lists=(("job_id", "first"),))
