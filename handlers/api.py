"""The base of the management API: strict JSON in, JSON out, one caller with one permission.

Every refusal has the body of specification 7.4, made in one place from the domain's errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar, Final, TypeVar

from msgspec import Struct
from tornado.web import HTTPError

from handlers.base import Handler
from idp import access, requests, strict_json
from idp.access import Call
from idp.errors import (
    AlreadyExists,
    Busy,
    FailedPrecondition,
    IdpError,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    Unauthenticated,
)
from idp.identity.permissions import Permission
from idp.requests import Request
from storage import MAX_ID_CHARACTERS, Unavailable, Unknown

R = TypeVar("R", bound=Request)

PREFIXES: Final = ("/admin/", "/management/", "/v2/")
_TYPE: Final = re.compile(r'application/json *(; *charset=("?)utf-8\2 *)?', re.IGNORECASE)
_BUSY_SECONDS: Final = 2
_INTERNAL: Final = (500, 13)
_METHOD: Final = "the method is not one of this address"

# The HTTP status and the number in the body (gRPC's) of each refusal.
_ERRORS: Final[dict[type[Exception], tuple[int, int]]] = {
    InvalidArgument: (400, 3),
    FailedPrecondition: (400, 9),
    Unauthenticated: (401, 16),
    PermissionDenied: (403, 7),
    NotFound: (404, 5),
    AlreadyExists: (409, 6),
    Busy: (503, 14),
    Unavailable: (503, 14),
    Unknown: (503, 14),
}
_NUMBERS: Final = {400: 3, 404: 5, 405: 12, 412: 9, 413: 8, 415: 3, 421: 9, 429: 8, 431: 8}


class Detail(Struct, frozen=True, omit_defaults=True, rename={"type": "@type"}):
    """One thing that is wrong: `id` is for programs and stays the same, `message` for people."""

    type: str
    id: str
    message: str
    field: str = ""
    limit: int | None = None


class RequestInfo(Struct, frozen=True, rename={"type": "@type", "request_id": "requestId"}):
    """By which name the log knows the request."""

    type: str
    request_id: str


class ErrorBody(Struct, frozen=True):
    """Specification 7.4."""

    code: int
    message: str
    details: list[Detail | RequestInfo]


class JsonHandler(Handler):
    """An endpoint that answers in JSON, never cached, with the API's error bodies."""

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self._headers["Cache-Control"] = "no-store"

    def decode_argument(self, value: bytes, name: str | None = None) -> str:
        """A part of the address; one that isn't UTF-8 names nothing, as any that is unknown."""
        return value.decode("utf-8", "replace")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = kwargs.get("exc_info", (None, None))[1]
        status, number = _numbers(error)
        self.set_status(status)
        if status == 401:
            self.set_header("WWW-Authenticate", _challenge(error))
        if status == 405:
            self.set_header("Allow", ", ".join(self.allowed_methods()))
        if status == 503:
            seconds = getattr(error, "retry_after_seconds", _BUSY_SECONDS)
            self.set_header("Retry-After", str(seconds))
        self.answer(self._error_body(number, _refusal(error, status)))

    def _error_body(self, number: int, error: IdpError) -> ErrorBody:
        domain = f"type.googleapis.com/{self.service.config.vendor}.v1"
        details = [
            Detail(f"{domain}.ErrorDetail", one.slug, str(one), one.field, one.limit)
            for one in error.details
        ]
        info = RequestInfo(f"{domain}.RequestInfo", self.request_id)
        return ErrorBody(number, error.message, [*details, info])


class ApiHandler(JsonHandler):
    """An endpoint of the management API.

    `permission` is what its caller must hold (or one for each method); `call` is the call once
    it was admitted, before any of the body is kept.
    """

    permission: ClassVar[Permission | Mapping[str, Permission]]
    call: Call

    async def prepare(self) -> None:
        """Admit the call. Raises HTTPError, Unauthenticated, PermissionDenied, NotFound."""
        waiting = super().prepare()
        if waiting is not None:
            await waiting
        method, headers = self.request.method or "", self.request.headers
        if method not in self.allowed_methods():
            raise HTTPError(405)
        named = headers.get(f"x-{self.service.config.vendor}-orgid") or None
        self.call = await access.admit(
            self.service, headers.get("Authorization"), self.permission_of(method), named
        )

    @classmethod
    def permission_of(cls, method: str) -> Permission:
        """What a caller must hold to use the method."""
        named = cls.permission
        return named[method] if isinstance(named, Mapping) else named

    @property
    def max_body_bytes(self) -> int:
        return self.service.config.max_json_bytes

    def read(self, kind: type[R]) -> R:
        """The body as a request. Raises HTTPError 413, 415 and InvalidArgument."""
        return requests.read(kind, self.document())

    def document(self) -> object:
        """The body as JSON. Raises HTTPError 413, 415 and InvalidArgument."""
        headers = self.request.headers
        if not _TYPE.fullmatch(headers.get("Content-Type", "").strip(" \t")):
            raise HTTPError(415, "the content type must be application/json")
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            raise HTTPError(415, "the body must not be compressed")
        return strict_json.decode(self.body)

    @staticmethod
    def id(text: str) -> str:
        """An id of the address. Raises NotFound for what can't be one."""
        if len(text) > MAX_ID_CHARACTERS or not text.isprintable():
            raise NotFound("there is nothing with such an id")
        return text


class MissingApiHandler(JsonHandler):
    """Every address below those of the API that isn't one."""

    def admit(self) -> None:
        super().admit()
        raise HTTPError(404, "there is nothing at this address")


def _numbers(error: BaseException | None) -> tuple[int, int]:
    if isinstance(error, HTTPError):
        return error.status_code, _NUMBERS.get(error.status_code, 3)
    found = (numbers for kind, numbers in _ERRORS.items() if isinstance(error, kind))
    return next(found, _INTERNAL)


def _refusal(error: BaseException | None, status: int) -> IdpError:
    """What the caller is told; what went wrong inside stays in the log."""
    if isinstance(error, IdpError) and status != 500:
        return error
    if isinstance(error, HTTPError):
        message = _METHOD if error.status_code == 405 else error.log_message
        return IdpError(message or "refused", slug=_slug(error.status_code))
    if status == 503:
        return IdpError("the service is busy, repeat the request later", slug="unavailable")
    return IdpError("something failed on the side of the service")


def _slug(status: int) -> str:
    return HTTPStatus(status).name.lower()


def _challenge(error: BaseException | None) -> str:
    """RFC 6750 3: no error code when no token was sent."""
    if isinstance(error, IdpError) and error.slug != "token.missing":
        return f'Bearer realm="idp", error="invalid_token", error_description="{error.message}"'
    return 'Bearer realm="idp"'


ROUTES = [(f"{prefix}.*", MissingApiHandler) for prefix in PREFIXES]
