"""Maps exceptions to the errors that OAuth clients get."""

from __future__ import annotations

from typing import Final

from tornado.web import HTTPError

from idp.foundation.errors import Busy
from idp.limits import admission
from idp.oauth.errors import (
    InsufficientScope,
    InvalidRequest,
    InvalidToken,
    OAuthError,
    ServerError,
    ServerOverloaded,
    TemporarilyUnavailable,
)
from storage import Unavailable, Unknown

METHOD_NOT_ALLOWED: Final = "the method is not allowed"


def as_oauth_error(error: BaseException | None) -> OAuthError:
    """Returns the protocol error that is sent for an exception. The cause of an internal failure
    is left out; it is only logged."""
    if isinstance(error, OAuthError):
        return error
    if isinstance(error, admission.Overloaded):
        return ServerOverloaded(error.retry_after_seconds)
    if isinstance(error, Busy):
        return TemporarilyUnavailable(error.retry_after_seconds)
    if isinstance(error, Unavailable | Unknown):
        return TemporarilyUnavailable()
    if isinstance(error, HTTPError):
        message = METHOD_NOT_ALLOWED if error.status_code == 405 else error.log_message
        protocol_error = InvalidRequest(message or "the request can not be answered")
        protocol_error.status = error.status_code
        return protocol_error
    return ServerError("the service failed")


def bearer_challenge(error: OAuthError) -> str | None:
    """Returns the Bearer challenge for an invalid token or an insufficient scope, and None for
    other errors. It has no error code if the request had no token (RFC 6750 3)."""
    if not isinstance(error, InvalidToken | InsufficientScope) or error.status == 429:
        return None
    parts = ['Bearer realm="idp"']
    if error.description:
        parts += [f'error="{error.code}"', f'error_description="{error.description}"']
    return ", ".join(parts)
