"""What must be true of every answer, whatever was asked: raises AssertionError otherwise."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, urlsplit

from tests.fuzz.request import Answer, Request
from tests.fuzz.values import INJECTED, MARKUP
from tests.fuzz.world import CALLBACK, World
from tests.support.browsers.visitor import LEAKS

STATUSES: Final = {
    *[200, 201, 204, 206, 303, 304, 308],
    *[400, 401, 403, 404, 405, 410, 411, 413, 416, 417, 421, 429, 431],
}
# What is no HTTP, or has too long a line or head, is refused before a handler receives it.
UNREAD: Final = {400, 414, 431}
ERRORS: Final = {
    *["invalid_request", "invalid_scope", "unauthorized_client", "unsupported_grant_type"],
    *["unsupported_response_type", "invalid_grant", "authorization_pending", "slow_down"],
    *["expired_token", "invalid_target", "invalid_client", "access_denied", "invalid_token"],
    *["insufficient_scope", "request_not_supported", "request_uri_not_supported"],
}
PROTOCOL: Final = {
    *["/oauth/v2/token", "/oauth/v2/introspect", "/oauth/v2/revoke", "/oauth/v2/par"],
    *["/oauth/v2/device_authorization", "/oidc/v1/userinfo"],
}
TOKENS: Final = {"access_token", "id_token", "refresh_token"}


def check(world: World, request: Request, answer: Answer) -> None:
    """The answer is one that this service may give to this request."""
    if answer.status in UNREAD and not answer.headers:
        return
    assert answer.status in STATUSES
    _check_head(answer)
    text = answer.body.decode()
    assert not [word for word in LEAKS if word in text]
    if answer.get("Content-Type").startswith("text/html"):
        _check_page(answer, text)
    elif "json" in answer.get("Content-Type"):
        _check_json(request, answer)
    if answer.all("Location"):
        _check_location(world, answer)


def _check_head(answer: Answer) -> None:
    assert answer.get("Server") == "idp"
    assert answer.get("X-Content-Type-Options") == "nosniff"
    assert answer.get("Referrer-Policy") == "no-referrer"
    assert len(answer.all("X-Request-Id")) == 1
    assert not answer.all(INJECTED.decode())
    assert "Access-Control-Allow-Credentials" not in dict(answer.headers)
    assert (answer.status == 405) == bool(answer.all("Allow"))
    assert (answer.status == 429) <= bool(answer.all("Retry-After"))
    for cookie in answer.all("Set-Cookie"):
        assert cookie.startswith(("idp_agent=", "idp_language=", "idp_reset="))
        assert "Path=/; HttpOnly; SameSite=Lax" in cookie
        assert "Domain" not in cookie


def _check_page(answer: Answer, text: str) -> None:
    policy = answer.get("Content-Security-Policy")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.get("X-Frame-Options") == "DENY"
    assert answer.get("Cache-Control") == "no-store"
    assert MARKUP.decode() not in text
    assert "<svg/" not in text


def _check_json(request: Request, answer: Answer) -> None:
    assert not answer.all("Set-Cookie")
    if not answer.body:
        return
    body = answer.json()
    path = request.path.decode("latin-1")
    if path in PROTOCOL:
        assert answer.get("Cache-Control") == "no-store"
        assert answer.get("Pragma") == "no-cache"
    if path in PROTOCOL and answer.status >= 400:
        assert set(body) <= {"error", "error_description"}
        assert body["error"] in ERRORS
        description = body.get("error_description", "")
        assert description.isascii()
        assert not set(description) & set('"\\\r\n\t')
        is_challenged = bool(answer.all("WWW-Authenticate"))
        # Introspection refuses without a challenge where the header was not sent.
        assert (answer.status == 401) <= (is_challenged or not _has_header(request))


def _has_header(request: Request) -> bool:
    return b"authorization:" in request.octets(b"").lower()


def _check_location(world: World, answer: Answer) -> None:
    """To this service or to an address that an application registered, and no token in a query."""
    (location,) = answer.all("Location")
    assert location.isascii()
    assert location.startswith(
        (f"{world.server.issuer}/", "/", CALLBACK, "https://client.example/bye")
    )
    assert not location.startswith("//")
    assert not TOKENS & {name for name, _ in parse_qsl(urlsplit(location).query)}
