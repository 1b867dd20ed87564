"""Jobs: work that outlives the request that asked for it, and the process that was at it."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from storage import Collection, Record

JobState = Literal["queued", "running", "succeeded", "finished_with_errors", "failed", "cancelled"]


class JobOptions(Struct, frozen=True, kw_only=True):
    """What an import was asked: only to tell what it would do; to change what exists already; to
    mend what can be mended safely (spaces around a text, a tag's case)."""

    is_dry_run: bool = False
    updates: bool = False
    mends: bool = False


class Job(Record):
    """An import. `position` rows are settled: whoever goes on begins with the next one.

    `holder` is the process at work, until `held_until`: then another one may go on. `parts` is how
    many parts of the package are stored (`PackagePart`); `source` is the file of this machine that
    it is read from instead, `digest` the SHA-256 of the package. `total` is known once the package
    was looked through. `worked_since` is when whoever was the last to take it up began with its
    rows, the one behind `worked_from`. `reason` is why it failed as a whole, and `reason_field`
    where that stands.
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
    """A piece of a package that waits for its job, in base64; the id is the job's and a number.

    It goes when the job has ended.
    """

    job_id: str
    content: str


class JobProblem(Record):
    """What is wrong with a row of a job's package; `key` puts them into the order of the rows.

    A row with an `error` was refused, else it is stored and this is worth knowing.
    """

    job_id: str
    key: str
    row: int
    path: str
    type: str
    record_id: str
    is_error: bool
    slug: str
    field: str
    message: str
    fix: str


class JobBatch(Record):
    """What a job has made of some rows: told to whoever asked for the import.

    `made` are the rows that were stored, as (type, organization, parts of the id) each.
    """

    job_id: str
    first: int
    made: list[tuple[str, str, list[str]]] = []


JOBS: Final = Collection("jobs", Job, lists=(("state", "created_at"), ("created_at",)))
PACKAGE_PARTS: Final = Collection("package_parts", PackagePart, lists=(("job_id",),))
JOB_PROBLEMS: Final = Collection("job_problems", JobProblem, lists=(("job_id", "key"),))
JOB_BATCHES: Final = Collection("job_batches", JobBatch, lists=(("job_id", "first"),))
