"""Operations at /admin/v1/import, /export and /jobs: import and export of organizations with
all that is in them."""

from __future__ import annotations

from typing import Final

from idp.api.operation import named_in, operation
from idp.transfer.calls import exports as export_calls
from idp.transfer.calls import imports as import_calls
from idp.transfer.calls import jobs as job_calls

_JOB: Final = "/admin/v1/jobs/{jobId}"

IMPORT: Final = operation(
    "POST /admin/v1/import",
    "iam.write",
    import_calls.import_package,
    name="import_call_take",
    summary="Import organizations with their contents, from an export or another system; rows"
    " that can't be stored are reported, the others are stored.",
    package=import_calls.Import,
    services=True,
)
EXPORT: Final = operation(
    "POST /admin/v1/export",
    "iam.write",
    export_calls.export,
    name="export_call_make",
    summary="Export organizations with their contents, as one document that can be imported.",
    answer=export_calls.Exported,
    services=True,
)
SEARCH_JOBS: Final = operation(
    "POST /admin/v1/jobs/_search",
    "iam.read",
    job_calls.search,
    name="job_calls_search",
    summary="Search for jobs of the last 30 days.",
)
READ_JOB: Final = operation(
    f"GET {_JOB}",
    "iam.read",
    job_calls.show,
    name="job_calls_show",
    summary="Get the progress of a job.",
)
JOB_ERRORS: Final = operation(
    f"GET {_JOB}/errors",
    "iam.read",
    job_calls.errors,
    name="job_calls_errors",
    summary="List the errors and warnings of a job's rows, in the order of the rows.",
)
CANCEL_JOB: Final = operation(
    f"POST {_JOB}/_cancel",
    "iam.write",
    job_calls.cancel,
    name="job_calls_cancel",
    summary="Cancel a job before its next rows; stored rows stay, and the job can be resumed.",
)
RESUME_JOB: Final = operation(
    f"POST {_JOB}/_resume",
    "iam.write",
    job_calls.resume,
    name="job_calls_resume",
    summary="Resume a job that was cancelled, or that failed because of the service.",
)
OPERATIONS: Final = named_in(globals())
