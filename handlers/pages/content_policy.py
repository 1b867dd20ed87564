"""The Content-Security-Policy of pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

_ORIGIN: Final = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+")


_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


def of_page(*, may_leave: bool) -> str:
    """Returns the policy of a page. Its forms reach the service alone, unless an answer to them
    may lead to an application (`may_leave`).

    Chromium applies `form-action` to every redirect that follows a form, also to those by which
    the application forwards its user, to any scheme and port.
    """
    return _POLICY if may_leave else f"{_POLICY}; form-action 'self'"


def with_frames(policy: str, uris: Sequence[str]) -> str:
    """Returns the policy with permission to show the origins of these addresses in frames; the
    same policy if there is none."""
    origins = " ".join(dict.fromkeys(origin for uri in uris if (origin := _origin(uri))))
    return f"{policy}; frame-src {origins}" if origins else policy


def framed_by_own_pages(policy: str) -> str:
    """Returns the policy with permission for pages of the same origin to show the page in a
    frame."""
    return policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")


def _origin(uri: str) -> str | None:
    """Returns scheme, host and port of a web address, or None if a policy cannot hold them."""
    parts = urlsplit(uri)
    origin = f"{parts.scheme}://{parts.netloc}"
    return origin if _ORIGIN.fullmatch(origin) else None
