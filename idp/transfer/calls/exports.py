"""The call POST /admin/v1/export, which exports organizations with all their records.

The document is first written to a temporary file that only this process can read. So a failure or
a timeout is answered with its status, and never with a partial document.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
from idp.transfer.bucket.location import AzureLocation, GcsLocation, Location, S3Location
from idp.transfer.calls import export_document
from idp.transfer.package import scratch

DEFAULT_TIMEOUT: Final = timedelta(minutes=30)
INLINE: Final = "inline"
MAX_TIMEOUT: Final = timedelta(hours=24)
_OUTPUTS: Final = {
    "gcsOutput": "gcs_output",
    "s3Output": "s3_output",
    "azureOutput": "azure_output",
}


class Export(export_document.ExportSelection, frozen=True, kw_only=True):
    """The organizations to export, and the time limit. The answer is the export, unless
    `gcsOutput`, `s3Output` or `azureOutput` has it written to object storage instead; with
    `responseOutput` it is both.
    """

    one_of = (tuple(_OUTPUTS.values()),)

    timeout: Annotated[timedelta, Duration(MAX_TIMEOUT)] = DEFAULT_TIMEOUT
    response_output: bool = False
    gcs_output: GcsLocation | None = None
    s3_output: S3Location | None = None
    azure_output: AzureLocation | None = None
    local_output: Annotated[dict[str, Any], NotYet("export.output", dict)] = {}


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
    member, location = _output(request)
    if location is not None:
        with _problems_at(member):
            await bucket_store.check_server(service, location)
    # The open file outlasts the directory, so it can be sent afterwards.
    with scratch.directory() as directory:
        path = directory / "export.json"
        file = path.open("x+b")
        try:
            remaining = deadline - time.monotonic()
            destination = _destination(location, is_inline=request.response_output)
            await export_document.write(service, call.actor, request, file, remaining, destination)
            if location is None:
                return FileAnswer(file)
            with _problems_at(member):
                output = await _put(service, location, path, file, deadline)
        except BaseException:
            file.close()
            raise
    if request.response_output:
        return FileAnswer(file)
    file.close()
    return FileAnswer(io.BytesIO(msgspec.json.encode(Exported(output=output))))


def _output(request: Export) -> tuple[str, Location | None]:
    """Returns the member that names where to write the export, and the location."""
    for member, field in _OUTPUTS.items():
        if (location := getattr(request, field)) is not None:
            return member, location
    return "", None


def _destination(location: Location | None, *, is_inline: bool) -> str:
    """Returns the destination for the audit log: the location without the credentials."""
    if location is None:
        return INLINE
    return f"{INLINE}, {location.uri}" if is_inline else location.uri


async def _put(
    service: Service, location: Location, path: Path, file: BinaryIO, deadline: float
) -> ExportOutput:
    """Writes the document to object storage. Raises InvalidArgument, Busy."""
    size = file.seek(0, io.SEEK_END)
    file.flush()
    await bucket_store.put(service, location, path, deadline - time.monotonic())
    return ExportOutput(bucket=location.bucket, path=location.path, size=size)


@contextmanager
def _problems_at(member: str) -> Iterator[None]:
    try:
        yield
    except InvalidArgument as error:
        raise error.within(member) from None
