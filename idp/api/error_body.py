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
    """One thing that is wrong: `id` is for programs and stays the same, `message` for people.

    `field` is the JSON path of what can't be used, `limit` what it goes beyond, `oldest` the first
    cursor that works, `help` where cause and cure are told. The last detail has `requestId` alone:
    by which name the log knows the request.
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


def of(error: IdpError, number: int, vendor: str, issuer: str, request_id: str) -> ErrorBody:
    """Returns the body of the answer that reports an error: one entry of `details` for each
    problem of the error, and a last one with the id of the request.

    `number` is the gRPC status code of the error. `vendor` is part of the type names, and `issuer`
    is the address that the links to the error catalogue begin with.
    """
    domain = f"type.googleapis.com/{vendor}.v1"
    details = [
        Detail(
            type=f"{domain}.ErrorDetail",
            id=one.error_code,
            message=str(one),
            field=one.field,
            limit=one.limit,
            oldest=error.oldest if isinstance(error, CursorTooOld) else "",
            help=f"{issuer}{CATALOGUE}#{one.error_code}",
        )
        for one in error.details
    ]
    info = Detail(type=f"{domain}.RequestInfo", request_id=request_id)
    return ErrorBody(number, error.message, [*details, info])
