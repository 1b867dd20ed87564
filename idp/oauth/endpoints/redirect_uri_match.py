"""Comparison of an address with those that a client registered (RFC 6749 3.1.2.3, RFC 8252
7.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from idp.records import Application

_LOOPBACK: Final = re.compile(
    r"(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::([1-9][0-9]{0,4}))?([/?].*)?", re.DOTALL
)


def is_registered(client: Application, uri: str, registered: Sequence[str]) -> bool:
    """Returns whether the address equals one of `registered`, character by character.

    For a loopback address the port may be any, where the client allows that: a native application
    listens on a free port (RFC 8252 7.3).
    """
    if uri in registered:
        return True
    sent = _without_port(uri) if client.allows_any_loopback_port else None
    return sent is not None and sent in map(_without_port, registered)


def _without_port(uri: str) -> tuple[str, str] | None:
    """Returns a loopback address without its port; None for any other address."""
    match = _LOOPBACK.fullmatch(uri)
    if match is None or int(match[2] or 80) > 65535:
        return None
    return match[1], match[3] or ""
