"""The protocol's errors: one class per error code, mapped to an HTTP response in one place.

::

    OAuthError
    ├── InvalidRequest            400
    ├── InvalidScope              400
    ├── UnauthorizedClient        400
    ├── UnsupportedResponseType   400, by redirect only
    ├── UnsupportedGrantType      400
    ├── InvalidGrant              400
    ├── AuthorizationPending      400 (RFC 8628 3.5), and so the next two
    ├── SlowDown                  400
    ├── ExpiredToken              400
    ├── InvalidTarget             400 (RFC 8693 2.2.2)
    ├── InvalidClient             401 with a challenge; 400 for a credential in the form; 429 after
    │                             too many attempts
    ├── AccessDenied              by redirect; 400 for a device
    ├── LoginRequired             by redirect only
    ├── InteractionRequired       by redirect only
    ├── RequestNotSupported       by redirect only
    ├── RequestUriNotSupported    by redirect only
    ├── InvalidToken              401 with a Bearer challenge (RFC 6750 3.1)
    ├── InsufficientScope         403 with a Bearer challenge
    └── ServerError               500; TemporarilyUnavailable and ServerOverloaded 503
    UnusableRequest               a page, never a redirect: no known client with this redirect_uri
    HintIgnored                   no response: the request continues without its id_token_hint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from idp.records import Application


class FailedCheck(Protocol):
    """A check that failed, with the attributes that a refusal needs.

    It is a protocol, so that this module does not depend on those that define the checks.
    """

    @property
    def name(self) -> str:
        """The check's name in records of refusals."""

    @property
    def says(self) -> str:
        """A sentence that states the requirement."""

    @property
    def rule(self) -> str:
        """The standard and section that require it."""

    @property
    def fix(self) -> str:
        """The change that corrects most requests that fail the check."""


class RequestRefused(Exception):
    """A request is refused. `description` may be displayed to everybody.

    `details` has all details and `fix` is how to correct the request, both for the administrator
    alone; `check` is the check that failed, and `client_id` the application's where it is
    known.
    """

    check: FailedCheck | None = None

    def __init__(
        self,
        description: str = "",
        *,
        details: str = "",
        fix: str = "",
        client_id: str | None = None,
    ) -> None:
        super().__init__(description)
        self.description = description
        self.details = details
        self.fix = fix
        self.client_id = client_id


class OAuthError(RequestRefused):
    """A protocol error. `description` is displayed to the client's developer, in plain ASCII."""

    code: ClassVar[str] = "server_error"
    status: int = 400
    retry_after_seconds: int | None = None

    def body(self) -> dict[str, str]:
        """Returns the parameters of the error response (RFC 6749 5.2)."""
        # An empty description is left out: RFC 6749 5.2 makes it optional.
        if not self.description:
            return {"error": self.code}
        return {"error": self.code, "error_description": self.description}


class InvalidRequest(OAuthError):
    """A parameter is missing, repeated or not valid (RFC 6749 5.2)."""

    code = "invalid_request"


class InvalidScope(OAuthError):
    """The scope is malformed, unknown, or larger than allowed (RFC 6749 5.2)."""

    code = "invalid_scope"


class UnauthorizedClient(OAuthError):
    """The client may not use this grant type or response type (RFC 6749 4.1.2.1, 5.2)."""

    code = "unauthorized_client"


class UnsupportedResponseType(OAuthError):
    """The service has no such response type (RFC 6749 4.1.2.1)."""

    code = "unsupported_response_type"


class UnsupportedGrantType(OAuthError):
    """The service has no such grant type (RFC 6749 5.2)."""

    code = "unsupported_grant_type"


class InvalidGrant(OAuthError):
    """The code, refresh token or assertion is not valid, or not the client's (RFC 6749 5.2)."""

    code = "invalid_grant"


class AuthorizationPending(OAuthError):
    """The user has not decided yet: the device is to poll again later (RFC 8628 3.5)."""

    code = "authorization_pending"


class SlowDown(OAuthError):
    """The device polls too often, and has to wait 5 seconds longer between two polls (RFC 8628
    3.5)."""

    code = "slow_down"


class ExpiredToken(OAuthError):
    """The device code has expired (RFC 8628 3.5)."""

    code = "expired_token"


class InvalidTarget(OAuthError):
    """The service issues no such token for that audience or resource (RFC 8693 2.2.2)."""

    code = "invalid_target"


class WrongCredential(OAuthError):
    """A secret, assertion or token is not valid.

    `too_many` is the description of the response after too many attempts.
    """

    too_many: ClassVar[str]

    def set_too_many_attempts(self, seconds: int) -> None:
        """Turns the refusal into one for too many attempts, with status 429 (RFC 6585 4).

        `seconds` becomes the Retry-After header.
        """
        self.status = 429
        self.retry_after_seconds = seconds
        self.description = self.too_many


class InvalidClient(WrongCredential):
    """Client authentication failed, with the same description for every reason but the faults of
    an assertion, which the client that signed it may know (`fault`).

    `reason` is the cause, for the log. `hint` replaces the description
    (`explain_to_developer`) where mistakes of `client`, the application that the request names,
    may be explained. `failed_id` is the id of the application or service user that failed to
    authenticate, if it exists.
    """

    code = "invalid_client"
    status = 401
    too_many = "client authentication failed too often, try again later"

    def __init__(
        self, reason: str, *, details: str = "", fix: str = "", hint: str = "", fault: str = ""
    ) -> None:
        super().__init__("", details=details, fix=fix)
        self.describe(fault)
        self.reason = reason
        self.hint = hint
        self.failed_id: str | None = None
        self.client: Application | None = None

    def describe(self, fault: str) -> None:
        """Sets the description. Without a fault of the assertion it is the same for every reason,
        so a response does not show which part was right."""
        failed = "client authentication failed"
        self.description = f"{failed}: {fault}" if fault else failed

    def explain_to_developer(self, request_id: str) -> None:
        """Replaces the description by `hint` and the request id, which `idp explain` takes.

        Does nothing if there is no hint.
        """
        if self.hint:
            self.description = f"{self.hint} (request {request_id})"


class AccessDenied(OAuthError):
    """The user denied the request or cancelled the sign-in (RFC 6749 4.1.2.1, RFC 8628 3.5)."""

    code = "access_denied"


class LoginRequired(OAuthError):
    """The user has to authenticate, which `prompt=none` forbids (OpenID Connect Core 3.1.2.6)."""

    code = "login_required"


class InteractionRequired(OAuthError):
    """The user has to act on a page, which `prompt=none` forbids (OpenID Connect Core 3.1.2.6)."""

    code = "interaction_required"


class RequestNotSupported(OAuthError):
    """Request objects by value are not supported (OpenID Connect Core 3.1.2.6)."""

    code = "request_not_supported"


class RequestUriNotSupported(OAuthError):
    """Request objects by reference are not supported (OpenID Connect Core 3.1.2.6)."""

    code = "request_uri_not_supported"


class InvalidToken(WrongCredential):
    """The access token is not valid (RFC 6750 3.1).

    Without a description the request had no token: the challenge names no error then.
    """

    code = "invalid_token"
    status = 401
    too_many = "too many wrong tokens came from this network, try again later"


class InsufficientScope(OAuthError):
    """The access token is valid, but does not have the scope that the request needs (RFC 6750
    3.1)."""

    code = "insufficient_scope"
    status = 403


class ServerError(OAuthError):
    """The service failed to answer a valid request (RFC 6749 4.1.2.1)."""

    code = "server_error"
    status = 500


class TemporarilyUnavailable(OAuthError):
    """The store or the hashing queue is busy: the same request may be repeated.

    The error code is `server_error`: the token endpoint's codes have none for this (RFC 6749 5.2).
    """

    code = "server_error"
    status = 503

    def __init__(self, retry_after_seconds: int = 2) -> None:
        super().__init__("the service is busy, repeat the request later")
        self.retry_after_seconds = retry_after_seconds


class AuthorizationUnavailable(TemporarilyUnavailable):
    """The service is busy, as an authorization response, which has an error code for it (RFC 6749
    4.1.2.1)."""

    code = "temporarily_unavailable"


class ServerOverloaded(TemporarilyUnavailable):
    """Too many requests of many clients wait for this process. Nothing was done, and the same
    request may be repeated."""

    code = "temporarily_unavailable"


class TooManyRequests(OAuthError):
    """Too many requests within a minute. Nothing was done, and the same request may be repeated
    later."""

    code = "temporarily_unavailable"
    status = 429

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__("too many requests, repeat this one later")
        self.retry_after_seconds = retry_after_seconds


class UnusableRequest(RequestRefused):
    """The request cannot be answered by redirect: there is no known client with that redirect URI.

    `error_code` selects the texts of the page. `sent` and `registered` are the values that were
    compared, displayed only to a visitor who may see explanations. `details` are for the
    administrator, in place of the texts of the page.
    """

    def __init__(
        self,
        error_code: str,
        description: str,
        *,
        client_id: str | None = None,
        sent: str | None = None,
        registered: tuple[str, ...] = (),
        details: str = "",
    ) -> None:
        super().__init__(description, details=details, client_id=client_id)
        self.error_code = error_code
        self.sent = sent
        self.registered = registered


class HintIgnored(RequestRefused):
    """An `id_token_hint` of an authorization request that cannot be used.

    The request continues without it; the record of it is for `idp explain`.
    """

    error_code = "hint.ignored"
