"""Comparison of an address with those that a client registered (RFC 6749 3.1.2.3, RFC 8252
7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from idp.config import urls
from idp.records import Application

_LOCALHOST: Final = "http://localhost"


def is_registered(client: Application, uri: str, registered: Sequence[str]) -> bool:
    """Returns whether the address equals one of `registered`, character by character.

    The port of a loopback address may be any where the client's is (`_may_differ`): a native
    application listens on a free port (RFC 8252 7.3).
    """
    if uri in registered:
        return True
    sent = urls.without_loopback_port(uri)
    if sent is None or not _may_differ(client, sent[0]):
        return False
    return sent in map(urls.without_loopback_port, registered)


def _may_differ(client: Application, origin: str) -> bool:
    """Returns whether the client may use any port of a loopback origin: a native application of an
    IP address, which is no other machine (RFC 8252 8.3), and every application that is allowed to.
    """
    is_native = client.app_type == "native"
    return client.allows_any_loopback_port or (is_native and origin != _LOCALHOST)
