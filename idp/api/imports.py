"""Operations at /admin/v1/import, /export and /jobs: import and export of organizations with
all that is in them."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.transfer.calls import exports as export_calls
from idp.transfer.calls import imports as import_calls
from idp.transfer.calls import jobs as job_calls

_JOB: Final = "/admin/v1/jobs/{jobId}"

OPERATIONS = (
    operation(
        "POST",
        "/admin/v1/import",
        "iam.write",
        import_calls.take,
        name="import_call_take",
        summary="Bring organizations with all that is in them, from an export or another system;"
        " each row that can't be stored is told, the others are stored.",
        package=import_calls.Import,
        services=True,
    ),
    operation(
        "POST",
        "/admin/v1/export",
        "iam.write",
        export_calls.make,
        name="export_call_make",
        summary="Export organizations with all that is in them, as one document that an import"
        " takes.",
        answer=export_calls.Exported,
        services=True,
    ),
    operation(
        "POST",
        "/admin/v1/jobs/_search",
        "iam.read",
        job_calls.search,
        name="job_calls_search",
        summary="Go through the jobs of the last thirty days.",
    ),
    operation(
        "GET",
        _JOB,
        "iam.read",
        job_calls.show,
        name="job_calls_show",
        summary="Show how far a job came.",
    ),
    operation(
        "GET",
        f"{_JOB}/errors",
        "iam.read",
        job_calls.errors,
        name="job_calls_errors",
        summary="List what is wrong with a job's rows, in the order of the rows; warnings too.",
    ),
    operation(
        "POST",
        f"{_JOB}/_cancel",
        "iam.write",
        job_calls.cancel,
        name="job_calls_cancel",
        summary="End a job before its next rows; what is stored stays, and it can be gone on"
        " with.",
    ),
    operation(
        "POST",
        f"{_JOB}/_resume",
        "iam.write",
        job_calls.resume,
        name="job_calls_resume",
        summary="Go on with a job that was cancelled, or that failed on the side of the service.",
    ),
)
