"""The protocol's errors: one class per error code, mapped to HTTP once, at the edge.

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
    ├── InvalidClient             401 with a challenge; 429 when there were too many
    ├── AccessDenied              by redirect; 400 for a device
    ├── LoginRequired             by redirect only
    ├── InteractionRequired       by redirect only
    ├── RequestNotSupported       by redirect only
    ├── RequestUriNotSupported    by redirect only
    ├── InvalidToken              401 with a Bearer challenge (RFC 6750 3.1)
    ├── InsufficientScope         403 with a Bearer challenge
    └── ServerError               500; TemporarilyUnavailable 503
    Unusable                      a page, never a redirect: client or redirect_uri not proven
    HintIgnored                   no answer at all: the request goes on without its id_token_hint
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from idp.records import Application


class FailedCheck(Protocol):
    """What a refusal says of the check that did not hold."""

    @property
    def name(self) -> str:
        """The check's name in records of refusals."""

    @property
    def says(self) -> str:
        """What has to hold."""

    @property
    def rule(self) -> str:
        """The standard and section that demand it."""

    @property
    def fix(self) -> str:
        """What mends most requests for which it does not hold."""


class Refusing(Exception):
    """A request is refused. Everybody may read `description`.

    `story` is the whole of it and `fix` what mends it, for the administrator alone; `check` is
    the check that did not hold, and `client_id` the application's where it is known.
    """

    check: FailedCheck | None = None

    def __init__(
        self,
        description: str = "",
        *,
        story: str = "",
        fix: str = "",
        client_id: str | None = None,
    ) -> None:
        super().__init__(description)
        self.description = description
        self.story = story
        self.fix = fix
        self.client_id = client_id


class OAuthError(Refusing):
    """A protocol error. `description` is shown to the client's developer, in plain ASCII."""

    code: ClassVar[str] = "server_error"
    status: int = 400
    retry_after_seconds: int | None = None

    def body(self) -> dict[str, str]:
        """RFC 6749 5.2."""
        if not self.description:
            return {"error": self.code}
        return {"error": self.code, "error_description": self.description}


class InvalidRequest(OAuthError):
    code = "invalid_request"


class InvalidScope(OAuthError):
    code = "invalid_scope"


class UnauthorizedClient(OAuthError):
    code = "unauthorized_client"


class UnsupportedResponseType(OAuthError):
    code = "unsupported_response_type"


class UnsupportedGrantType(OAuthError):
    code = "unsupported_grant_type"


class InvalidGrant(OAuthError):
    code = "invalid_grant"


class AuthorizationPending(OAuthError):
    """No refusal: the device is to ask again later (RFC 8628 3.5)."""

    code = "authorization_pending"


class SlowDown(OAuthError):
    code = "slow_down"


class ExpiredToken(OAuthError):
    code = "expired_token"


class InvalidTarget(OAuthError):
    """The service issues no such token for that audience or resource."""

    code = "invalid_target"


class WrongCredential(OAuthError):
    """A credential that is not valid; `too_many` is the description once there were too many."""

    too_many: ClassVar[str]

    def put_off(self, seconds: int) -> None:
        """Turns the refusal into one for too many attempts (RFC 6585 4)."""
        self.status = 429
        self.retry_after_seconds = seconds
        self.description = self.too_many


class InvalidClient(WrongCredential):
    """Client authentication failed; which part failed stays in the log (`reason`). `hint` is a
    description for developers, who may see it where mistakes of the `client` are explained.

    `failed_id` is the id of the application or service user that failed, if there is such a one.
    """

    code = "invalid_client"
    status = 401
    too_many = "client authentication failed too often, try again later"

    def __init__(self, reason: str, *, story: str = "", fix: str = "", hint: str = "") -> None:
        super().__init__("client authentication failed", story=story, fix=fix)
        self.reason = reason
        self.hint = hint
        self.failed_id: str | None = None
        self.client: Application | None = None

    def explain_to_developer(self, request_id: str) -> None:
        """Answers the hint, if there is one, with the request's id for `idp explain`."""
        if self.hint:
            self.description = f"{self.hint} (request {request_id})"


class AccessDenied(OAuthError):
    code = "access_denied"


class LoginRequired(OAuthError):
    code = "login_required"


class InteractionRequired(OAuthError):
    code = "interaction_required"


class RequestNotSupported(OAuthError):
    code = "request_not_supported"


class RequestUriNotSupported(OAuthError):
    code = "request_uri_not_supported"


class InvalidToken(WrongCredential):
    """Without a description there was no token: the challenge names no error then."""

    code = "invalid_token"
    status = 401
    too_many = "too many wrong tokens came from this network, try again later"


class InsufficientScope(OAuthError):
    code = "insufficient_scope"
    status = 403


class ServerError(OAuthError):
    code = "server_error"
    status = 500


class TemporarilyUnavailable(OAuthError):
    """The store or the hashing queue is busy: the same request may be repeated.

    The code on the wire is `server_error`: the specification's tables have no other.
    """

    code = "server_error"
    status = 503

    def __init__(self, retry_after_seconds: int = 2) -> None:
        super().__init__("the service is busy, repeat the request later")
        self.retry_after_seconds = retry_after_seconds


class AuthorizationUnavailable(TemporarilyUnavailable):
    """The same as an authorization response, whose table has a code for it (RFC 6749
    4.1.2.1)."""

    code = "temporarily_unavailable"


class TooManyRequests(OAuthError):
    """Too many within a minute; nothing was done, and the same request may be repeated later."""

    code = "temporarily_unavailable"
    status = 429

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__("too many requests, repeat this one later")
        self.retry_after_seconds = retry_after_seconds


class UnusableRequest(Refusing):
    """The request can't be answered by redirect: no proven client with that redirect URI.

    `sent` and `registered` are the values that were compared, for the explain page (never shown
    to a stranger). A `story` takes the place of the page's sentence, for the administrator.
    """

    def __init__(
        self,
        slug: str,
        description: str,
        *,
        client_id: str | None = None,
        sent: str | None = None,
        registered: tuple[str, ...] = (),
        story: str = "",
    ) -> None:
        super().__init__(description, story=story, client_id=client_id)
        self.slug = slug
        self.sent = sent
        self.registered = registered


class HintIgnored(Refusing):
    """An `id_token_hint` of an authorization request that can't be used. The request goes on
    without it; the record of it is for `idp explain`."""

    slug = "hint.ignored"
