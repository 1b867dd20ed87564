"""Whether an address is one that a client registered (RFC 6749 3.1.2.3, RFC 8252 7.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from idp.records import Application

_LOOPBACK: Final = re.compile(
    r"(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::([1-9][0-9]{0,4}))?([/?].*)?", re.DOTALL
)


def is_registered(client: Application, uri: str, registered: Sequence[str]) -> bool:
    """Whether it equals one of `registered`, octet by octet.

    On the person's own machine the port may be any, where the client has asked for that: a native
    app listens where it can.
    """
    if uri in registered:
        return True
    sent = _without_port(uri) if client.allows_any_loopback_port else None
    return sent is not None and sent in map(_without_port, registered)


def _without_port(uri: str) -> tuple[str, str] | None:
    """A loopback address apart from its port; None for any other address."""
    found = _LOOPBACK.fullmatch(uri)
    if found is None or int(found[2] or 80) > 65535:
        return None
    return found[1], found[3] or ""
