"""Maps errors to the HTTP status, the gRPC number and the message of a management API response."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from tornado.web import HTTPError

from idp.audit.event_streams import CursorTooOld, CursorUnknown
from idp.foundation.errors import (
    AlreadyExists,
    Busy,
    DeadlineExceeded,
    FailedPrecondition,
    IdpError,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    SecretGone,
    TooMany,
    Unauthenticated,
)
from idp.management import call as management_call
from storage import Unavailable, Unknown

_INTERNAL: Final = (500, 13)
_METHOD_MESSAGE: Final = "the method is not one of this address"

# The HTTP status of each error, and the gRPC status number in the body.
_NUMBERS_BY_ERROR: Final[dict[type[Exception], tuple[int, int]]] = {
    InvalidArgument: (400, 3),
    CursorUnknown: (400, 3),
    CursorTooOld: (400, 11),
    DeadlineExceeded: (504, 4),
    FailedPrecondition: (400, 9),
    Unauthenticated: (401, 16),
    PermissionDenied: (403, 7),
    NotFound: (404, 5),
    AlreadyExists: (409, 6),
    SecretGone: (409, 10),
    PreconditionFailed: (412, 9),
    TooMany: (429, 8),
    Busy: (503, 14),
    Unavailable: (503, 14),
    Unknown: (503, 14),
}
# The gRPC numbers of errors that Tornado or a base handler raises as an HTTPError.
_NUMBERS: Final = {400: 3, 404: 5, 405: 12, 412: 9, 413: 8, 415: 3, 421: 9, 429: 8, 431: 8}


def numbers(error: BaseException | None) -> tuple[int, int]:
    """Returns the HTTP status and the gRPC number of an error; 500 and 13 for an unknown one."""
    if isinstance(error, HTTPError):
        return error.status_code, _NUMBERS.get(error.status_code, 3)
    matches = (
        numbers
        for error_class, numbers in _NUMBERS_BY_ERROR.items()
        if isinstance(error, error_class)
    )
    return next(matches, _INTERNAL)


def visible_error(error: BaseException | None, status: int) -> IdpError:
    """Returns the error that the caller gets for `error`. The cause of an internal failure is left
    out; it is only logged."""
    if isinstance(error, IdpError) and status != 500:
        return error
    if isinstance(error, HTTPError):
        message = _METHOD_MESSAGE if error.status_code == 405 else error.log_message
        return IdpError(message or "refused", error_code=_error_code(error.status_code))
    if status == 503:
        return IdpError("the service is busy, repeat the request later", error_code="unavailable")
    return IdpError("the service failed")


def _error_code(status: int) -> str:
    return HTTPStatus(status).name.lower()


def challenge(error: BaseException | None) -> str:
    """Returns the value of WWW-Authenticate for a response with status 401. It has no error code
    if the request had no token (RFC 6750 3)."""
    if isinstance(error, IdpError) and error.error_code != management_call.NO_TOKEN:
        return f'Bearer realm="idp", error="invalid_token", error_description="{error.message}"'
    return 'Bearer realm="idp"'
