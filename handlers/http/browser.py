"""The cookies of the browser, and whether a request comes from another site."""

from __future__ import annotations

from typing import Final

from tornado.httputil import HTTPServerRequest

from idp.config.settings import Config
from idp.identity.sessions.browsers import COOKIE_LIFETIME

_SAFE_SITES: Final = ("same-origin", "none")


def cookie_name(config: Config, name: str = "agent") -> str:
    """Returns the cookie's full name. `__Host-` binds it to this host and to https; plain http is
    for loopback only."""
    return f"__Host-idp_{name}" if config.is_secure else f"idp_{name}"


def cookie_header(config: Config, name: str, value: str, *, max_age: int | None = None) -> str:
    """Returns a Set-Cookie value: this host only, no scripts, not with cross-site POSTs."""
    parts = [f"{name}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if config.is_secure:
        parts.append("Secure")
    lasts = int(COOKIE_LIFETIME.total_seconds()) if max_age is None else max_age
    parts.append(f"Max-Age={lasts}")
    return "; ".join(parts)


def is_cross_site(config: Config, request: HTTPServerRequest) -> bool:
    """Returns whether a form was sent by a page of another site, as far as the headers show.

    Pages of this service send no referrer, so an older browser sends `Origin: null` with their own
    forms; then only the form's token protects against forgery.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site not in _SAFE_SITES
    return request.headers.get("Origin") not in (None, "null", config.origin)


def may_lack_cookie(config: Config, request: HTTPServerRequest) -> bool:
    """Returns whether a POST may come from another site and so without the cookie."""
    # Older browsers send this for the service's own forms and for those of other sites.
    is_hidden = "Sec-Fetch-Site" not in request.headers and request.headers.get("Origin") == "null"
    return request.method == "POST" and (is_hidden or is_cross_site(config, request))
