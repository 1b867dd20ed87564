"""POST /admin/v1/export (specification 4.11): organizations with all that is in them.

The document is written to a temporary file first, which has no name and nobody else can read. So
what fails, or takes too long, is answered by its status, and never by half a document.
"""

from __future__ import annotations

import tempfile
from datetime import timedelta
from typing import Annotated, Any, Final

from idp.access import Call
from idp.answers import Answer, Filed
from idp.fields import Duration, NotYet
from idp.service import Service
from idp.transfer import exporting

DEFAULT_TIMEOUT: Final = timedelta(minutes=30)
MAX_TIMEOUT: Final = timedelta(hours=24)


class Export(exporting.Wanted, frozen=True, kw_only=True):
    """What is wanted, within which time. The answer is the export, whatever `responseOutput`
    says: the export can't be written anywhere else yet."""

    timeout: Annotated[timedelta, Duration(MAX_TIMEOUT)] = DEFAULT_TIMEOUT
    response_output: bool = False
    gcs_output: Annotated[dict[str, Any], NotYet("export.output", dict)] = {}
    local_output: Annotated[dict[str, Any], NotYet("export.output", dict)] = {}
    s3_output: Annotated[dict[str, Any], NotYet("export.output", dict)] = {}


class Exported(Answer, frozen=True, kw_only=True):
    """Organizations, as an import takes them."""

    orgs: list[dict[str, Any]] = []


async def make(service: Service, call: Call, request: Export) -> Filed:
    """Export organizations with all that is in them, as one document that an import takes.

    Raises NotFound: an organization that is named is not there; DeadlineExceeded.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by whoever gets it
    try:
        await exporting.write(service, call.actor, request, file, request.timeout.total_seconds())
    except BaseException:
        file.close()
        raise
    return Filed(file)
