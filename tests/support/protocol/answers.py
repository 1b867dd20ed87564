"""Checks of the common parts of all responses of the token and userinfo endpoints."""

from __future__ import annotations


def assert_granted(page) -> dict:
    """RFC 6749 5.1; the body."""
    assert page.status == 200, page.text
    assert_json(page)
    body = page.json()
    assert body["token_type"] == "Bearer"
    assert type(body["expires_in"]) is int
    assert body["expires_in"] > 0
    return body


def assert_refused(
    page, status: int, error: str, what: object = None, *, is_challenged: bool | None = None
) -> None:
    """RFC 6749 5.2: status, code, a plain description, and a challenge with a 401.

    `is_challenged` is False for the 401 of introspection where the header was not sent.
    """
    assert_json(page)
    body = page.json()
    assert (page.status, body.get("error")) == (status, error), (what, page.text)
    assert set(body) <= {"error", "error_description"}
    description = body.get("error_description", "")
    assert description.isascii()
    assert not set(description) & set('"\\\r\n\t')
    expected = status == 401 if is_challenged is None else is_challenged
    assert expected == page.headers.get("WWW-Authenticate", "").startswith("Basic "), what


def assert_json(page) -> None:
    assert page.headers["Content-Type"] == "application/json"
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Pragma"] == "no-cache"
    assert "Set-Cookie" not in page.headers
