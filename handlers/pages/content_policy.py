"""The Content-Security-Policy of pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

_ORIGIN: Final = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+")


def of_page(form_targets: Sequence[str]) -> str:
    """Returns the policy of a page whose forms may reach the service and these addresses: their
    origins and their schemes."""
    sources = dict.fromkeys(source for uri in form_targets for source in _sources(uri))
    targets = " ".join(["'self'", *sources])
    return (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
        f"base-uri 'none'; frame-ancestors 'none'; form-action {targets}"
    )


def with_frames(policy: str, uris: Sequence[str]) -> str:
    """Returns the policy with permission to show the origins of these addresses in frames; the
    same policy if there is none."""
    origins = " ".join(dict.fromkeys(origin for uri in uris if (origin := _origin(uri))))
    return f"{policy}; frame-src {origins}" if origins else policy


def _sources(uri: str) -> list[str]:
    """Returns the CSP sources of an address: its origin, if it is a plain one, and its scheme."""
    origin = _origin(uri)
    return [*([origin] if origin else []), f"{urlsplit(uri).scheme}:"]


def _origin(uri: str) -> str | None:
    """Returns scheme, host and port of a web address, or None if a policy cannot hold them."""
    parts = urlsplit(uri)
    origin = f"{parts.scheme}://{parts.netloc}"
    return origin if _ORIGIN.fullmatch(origin) else None
