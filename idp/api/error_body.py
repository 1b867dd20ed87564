"""The body of every error of the management API."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from idp.audit.event_streams import CursorTooOld
from idp.foundation.errors import IdpError

CATALOGUE: Final = "/docs/errors"


class Detail(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    rename={"type": "@type", "request_id": "requestId"},
):
    """One problem of the request. `id` is the error code, which never changes, and `message` a
    text for people. `field` is the JSON path of the value with the problem, `limit` the limit that
    it exceeds, `oldest` the first cursor that can be used, and `help` the address of the page with
    the cause and the remedy. The last entry has only `requestId`, under which the log has the
    request.
    """

    type: str
    id: str = ""
    message: str = ""
    field: str = ""
    limit: int | None = None
    oldest: str = ""
    help: str = ""
    request_id: str = ""


class ErrorBody(Struct, frozen=True):
    """`code` is gRPC's number of the kind of refusal."""

    code: int
    message: str
    details: list[Detail]


def of(error: IdpError, grpc_code: int, vendor: str, issuer: str, request_id: str) -> ErrorBody:
    """Returns the body of the answer that reports an error: one entry of `details` for each
    problem of the error, and a last one with the id of the request.

    `grpc_code` is the gRPC status code of the error. `vendor` is part of the type names, and
    `issuer` is the address that the links to the error catalogue begin with.
    """
    domain = f"type.googleapis.com/{vendor}.v1"
    details = [
        Detail(
            type=f"{domain}.ErrorDetail",
            id=problem.error_code,
            message=str(problem),
            field=problem.field,
            limit=problem.limit,
            oldest=error.oldest if isinstance(error, CursorTooOld) else "",
            help=f"{issuer}{CATALOGUE}#{problem.error_code}",
        )
        for problem in error.details
    ]
    info = Detail(type=f"{domain}.RequestInfo", request_id=request_id)
    return ErrorBody(grpc_code, error.message, [*details, info])
