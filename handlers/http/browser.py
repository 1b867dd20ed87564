"""The cookies of the browser, and whether a request comes from another site."""

from __future__ import annotations

from typing import Final

from tornado.httputil import HTTPServerRequest

from idp.config.settings import Config
from idp.identity.sessions.browsers import COOKIE_LIFETIME

_SAFE_SITES: Final = ("same-origin", "none")


def cookie_name(config: Config, name: str = "agent") -> str:
    """Returns the full name of the cookie `name`. The prefix `__Host-`, which binds a cookie to
    this host and to https, is left out only if the service uses plain http on a loopback
    address."""
    return f"__Host-idp_{name}" if config.is_secure else f"idp_{name}"


def cookie_header(config: Config, name: str, value: str, *, max_age: int | None = None) -> str:
    """Returns the Set-Cookie value of a cookie for this host only, which scripts can't read and
    browsers don't send with cross-site POSTs. `max_age` is in seconds, by default those of
    `COOKIE_LIFETIME`."""
    parts = [f"{name}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if config.is_secure:
        parts.append("Secure")
    lifetime_seconds = int(COOKIE_LIFETIME.total_seconds()) if max_age is None else max_age
    parts.append(f"Max-Age={lifetime_seconds}")
    return "; ".join(parts)


def is_cross_site(config: Config, request: HTTPServerRequest) -> bool:
    """Returns whether a form was sent by a page of another site, as far as the headers show.

    This service's pages send no referrer, so older browsers send `Origin: null` with the service's
    own forms too; then only the form's token protects against forgery.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site not in _SAFE_SITES
    return request.headers.get("Origin") not in (None, "null", config.origin)


def may_lack_cookie(config: Config, request: HTTPServerRequest) -> bool:
    """Returns whether a request is a POST that may come from another site; browsers send no
    SameSite cookie with such a POST."""
    # Older browsers send this for the service's own forms and for those of other sites.
    is_origin_hidden = (
        "Sec-Fetch-Site" not in request.headers and request.headers.get("Origin") == "null"
    )
    return request.method == "POST" and (is_origin_hidden or is_cross_site(config, request))
