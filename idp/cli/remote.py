"""The back end that calls a running service over HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib import request as http_request
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from idp import __version__
from idp.api.operation import Operation
from idp.audit.event_streams import CursorTooOld
from idp.cli.document import Document
from idp.foundation.clock import Clock
from idp.foundation.errors import (
    AlreadyExists,
    Busy,
    ConfigError,
    FailedPrecondition,
    FieldProblem,
    IdpError,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    SecretGone,
    Taken,
    TooMany,
    Unauthenticated,
)

TIMEOUT_SECONDS: Final = 60.0
UPLOAD_TIMEOUT_SECONDS: Final = 3600.0  # the service stores all of it before it answers

# The exception of a refusal, by its status and the gRPC code in its body, or by its status alone.
_ERRORS: Final[Mapping[tuple[int, int | None], type[IdpError]]] = {
    (400, 9): FailedPrecondition,
    (401, None): Unauthenticated,
    (403, None): PermissionDenied,
    (404, None): NotFound,
    (409, 10): SecretGone,
    (409, None): AlreadyExists,
    (412, None): PreconditionFailed,
}
_GATEWAY_ERRORS: Final = (502, 503, 504)  # of a proxy whose service is unreachable


class Unreachable(Busy):
    """The error that the service did not answer."""

    def __init__(self, url: str, reason: object) -> None:
        super().__init__(f"the service at {url} can't be reached: {reason}", retry_after_seconds=1)


class Remote(msgspec.Struct, frozen=True):
    """The back end that calls a service with this token. Its calls concern the organization
    `org_id`, or else the user's own.

    `vendor` is part of the names of the service's headers.
    """

    url: str
    token: str
    org_id: str | None
    vendor: str
    clock: Clock

    @property
    def issuer(self) -> str:
        return self.url

    def within(self, org_id: str | None) -> Remote:
        return msgspec.structs.replace(self, org_id=org_id)

    async def call(
        self,
        operation: Operation,
        values: Sequence[str] = (),
        document: object = None,
        if_match: int | None = None,
    ) -> Document:
        """Carries out the operation and returns its answer, as `Backend.call` does. Raises
        IdpError.
        """
        path = operation.path
        for name, value in zip(operation.parameters, values, strict=True):
            path = path.replace(f"{{{name}}}", _path_segment(value))
        headers = self._headers()
        if if_match is not None:
            headers["If-Match"] = f'"{if_match}"'
        body = None
        if operation.query is not None and isinstance(document, dict):
            path += f"?{urlencode(document)}"
        if operation.request is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(document).encode()
        request = http_request.Request(  # noqa: S310 - `backend` looks at the scheme
            self.url + path, data=body, headers=headers, method=operation.method
        )
        return await asyncio.to_thread(_send, self.url, request)

    async def upload(self, operation: Operation, chunks: Iterable[bytes], size: int) -> Document:
        """Calls the operation with a body of `size` bytes, which `chunks` yields, and returns its
        answer. Raises IdpError.
        """
        headers = self._headers() | {"Content-Type": "application/json"}
        headers["Content-Length"] = str(size)
        request = http_request.Request(  # noqa: S310 - `backend` looks at the scheme
            self.url + operation.path, data=chunks, headers=headers, method=operation.method
        )
        return await asyncio.to_thread(_send, self.url, request, UPLOAD_TIMEOUT_SECONDS)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json",
            "User-Agent": f"idp/{__version__}",
        }
        if self.org_id is not None:
            headers[f"x-{self.vendor}-orgid"] = _header(self.org_id)
        return headers


def backend(url: str, token: str, org_id: str | None, vendor: str, clock: Clock) -> Remote:
    """Returns the back end of the service at `url`; `vendor` is its setting of that name.

    Raises ConfigError for a malformed address or token.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise ConfigError([f"{url} is not the address of a service, such as https://id.example"])
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(["the token has invalid characters"])
    return Remote(url.rstrip("/"), token, org_id, vendor, clock)


def _path_segment(value: str) -> str:
    """Returns a value as a segment of a path. Raises NotFound for one that servers and proxies
    would resolve."""
    if value in ("", ".", ".."):
        raise NotFound("there is no record with this ID")
    return quote(value, safe="")


def _header(org_id: str) -> str:
    if not org_id.isascii() or not org_id.isprintable():
        raise NotFound("there is no such organization", error_code="organization.not_found")
    return org_id


class _NoRedirects(http_request.HTTPRedirectHandler):
    """Refuses redirects, because the token is only for the address that was named."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_OPENER: Final = http_request.build_opener(_NoRedirects)


def _send(url: str, request: http_request.Request, timeout: float = TIMEOUT_SECONDS) -> Document:
    try:
        with _OPENER.open(request, timeout=timeout) as answer:
            data = answer.read()
    except HTTPError as error:
        with error:
            raise _refusal(error, error.read()) from None
    except (URLError, OSError, http.client.HTTPException) as error:
        raise Unreachable(url, getattr(error, "reason", error)) from error
    try:
        return msgspec.json.decode(data, type=Document)
    except msgspec.DecodeError as error:
        raise IdpError(f"{url} answers, but is not this service") from error


def _refusal(error: HTTPError, data: bytes) -> IdpError:
    """Returns the exception that the service raised."""
    try:
        body = msgspec.json.decode(data, type=Document)
        grpc_code, message = int(body["code"]), str(body["message"])
        problems = [_problem(each) for each in body["details"] if "id" in each]
    except (msgspec.DecodeError, KeyError, TypeError, ValueError):
        description = f"{error.url} answered {error.code} {error.reason}"
        if error.code in _GATEWAY_ERRORS:
            return Busy(description, retry_after_seconds=1)
        return IdpError(description)
    status, seconds = error.code, error.headers.get("Retry-After", "")
    # Retry-After may also be a date (RFC 9110 10.2.3).
    wait = int(seconds) if seconds.isdecimal() else 1
    if status == 429:
        return TooMany(message, retry_after_seconds=wait)
    if status == 503:
        return Busy(message, retry_after_seconds=wait)
    if (status, grpc_code) == (400, 3) and problems:
        return InvalidArgument(problems)
    oldest = [str(each["oldest"]) for each in body["details"] if "oldest" in each]
    if oldest:
        return CursorTooOld(oldest[0])
    kind = _ERRORS.get((status, grpc_code)) or _ERRORS.get((status, None)) or IdpError
    if kind is AlreadyExists and any(each.field for each in problems):
        return Taken(problems)
    error_code = problems[0].error_code if problems else None
    return kind(message, error_code=error_code, field=problems[0].field if problems else "")


def _problem(detail: Document) -> FieldProblem:
    """Returns a detail of the refusal as a problem, without the path that its message repeats."""
    path, message = str(detail.get("field", "")), str(detail["message"])
    return FieldProblem(
        str(detail["id"]), path, message.removeprefix(f"{path}: "), detail.get("limit")
    )
