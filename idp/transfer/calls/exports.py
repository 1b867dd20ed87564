"""The call POST /admin/v1/export, which exports organizations with all their records.

The document is first written to a temporary file that only this process can read. So a failure or
a timeout is answered with its status, and never with a partial document.
"""

from __future__ import annotations

import io
import time
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final

import msgspec

from idp.foundation.errors import InvalidArgument
from idp.management.call import Call
from idp.schema.answers import Answer, FileAnswer
from idp.schema.field_rules import Duration, NotYet
from idp.service import Service
from idp.transfer.bucket import store as bucket_store
from idp.transfer.bucket.location import ObjectLocation
from idp.transfer.calls import export_document
from idp.transfer.package import scratch

DEFAULT_TIMEOUT: Final = timedelta(minutes=30)
INLINE: Final = "inline"
MAX_TIMEOUT: Final = timedelta(hours=24)


class Export(export_document.ExportSelection, frozen=True, kw_only=True):
    """The organizations to export, and the time limit. The answer is the export, unless
    `gcsOutput` has it written to object storage instead; with `responseOutput` it is both.
    """

    timeout: Annotated[timedelta, Duration(MAX_TIMEOUT)] = DEFAULT_TIMEOUT
    response_output: bool = False
    gcs_output: ObjectLocation | None = None
    local_output: Annotated[dict[str, Any], NotYet("export.output", dict)] = {}
    s3_output: Annotated[dict[str, Any], NotYet("export.output", dict)] = {}


class ExportOutput(Answer, frozen=True, kw_only=True):
    """Where the export was written, and its size in bytes."""

    bucket: str
    path: str
    size: int


class Exported(Answer, frozen=True, kw_only=True):
    """Organizations in the form in which an import takes them; or where they were written."""

    orgs: list[dict[str, Any]] = []
    output: ExportOutput | None = None


async def export(service: Service, call: Call, request: Export) -> FileAnswer:
    """Exports organizations with all their records, as one document that an import reads.

    Raises NotFound if a named organization does not exist; DeadlineExceeded; InvalidArgument if
    the document can't be written to object storage; Busy if too many transfers are running.
    """
    deadline = time.monotonic() + request.timeout.total_seconds()
    # The open file outlasts the directory, so it can be sent afterwards.
    with scratch.directory() as directory:
        path = directory / "export.json"
        file = path.open("x+b")
        try:
            remaining = deadline - time.monotonic()
            destination = _destination(request)
            await export_document.write(service, call.actor, request, file, remaining, destination)
            if request.gcs_output is None:
                return FileAnswer(file)
            output = await _put(service, request.gcs_output, path, file, deadline)
        except BaseException:
            file.close()
            raise
    if request.response_output:
        return FileAnswer(file)
    file.close()
    return FileAnswer(io.BytesIO(msgspec.json.encode(Exported(output=output))))


def _destination(request: Export) -> str:
    """Returns the destination for the audit log: the location without the account."""
    location = request.gcs_output
    if location is None:
        return INLINE
    bucket = f"gs://{location.bucket}/{location.path}"
    return f"{INLINE}, {bucket}" if request.response_output else bucket


async def _put(
    service: Service, location: ObjectLocation, path: Path, file: BinaryIO, deadline: float
) -> ExportOutput:
    """Writes the document to object storage. Raises InvalidArgument (at `gcsOutput`), Busy."""
    size = file.seek(0, io.SEEK_END)
    file.flush()
    try:
        await bucket_store.put(service, location, path, deadline - time.monotonic())
    except InvalidArgument as error:
        raise error.within("gcsOutput") from None
    return ExportOutput(bucket=location.bucket, path=location.path, size=size)
