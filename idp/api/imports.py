"""/admin/v1/import, /export and /jobs: organizations with all that is in them, in and out."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.transfer import export_call, import_call, job_calls

_JOB: Final = "/admin/v1/jobs/{jobId}"

OPERATIONS = (
    operation(
        "POST",
        "/admin/v1/import",
        "iam.write",
        import_call.take,
        package=import_call.Import,
        services=True,
    ),
    operation(
        "POST",
        "/admin/v1/export",
        "iam.write",
        export_call.make,
        answer=export_call.Exported,
        services=True,
    ),
    operation("POST", "/admin/v1/jobs/_search", "iam.read", job_calls.search),
    operation("GET", _JOB, "iam.read", job_calls.show),
    operation("GET", f"{_JOB}/errors", "iam.read", job_calls.errors),
    operation("POST", f"{_JOB}/_cancel", "iam.write", job_calls.cancel),
    operation("POST", f"{_JOB}/_resume", "iam.write", job_calls.resume),
)
