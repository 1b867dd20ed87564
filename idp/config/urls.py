"""Addresses: whether one is on the local machine, and its form without a port or a password."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import Final
from urllib.parse import quote, urlsplit

_ADDRESS_AND_PORT: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):([0-9]{1,5})")
_LOOPBACK: Final = re.compile(
    r"(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::([1-9][0-9]{0,4}))?([/?].*)?", re.DOTALL
)
_USER_ALONE: Final = re.compile(r"(mongodb(?:\+srv)?://[^:@/?]+)@")


def is_loopback(host: str) -> bool:
    """Returns whether the host, given without port and brackets, is the local machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(8)
def is_on_loopback(url: str) -> bool:
    """Returns whether the host of the URL is the local machine; False for what is no URL."""
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def without_loopback_port(uri: str) -> tuple[str, str] | None:
    """Returns a loopback address of an application as its origin without a port, and the rest.

    None for any other address: it is http, and the host is `127.0.0.1`, `[::1]` or `localhost`.
    """
    match = _LOOPBACK.fullmatch(uri)
    if match is None or int(match[2] or 80) > 65535:
        return None
    return match[1], match[3] or ""


def without_password(url: str) -> str:
    """Returns a store's URL for display: without password, and without secrets in its query."""
    url = re.sub(r"(?<=://)([^:/@]*):.*@", r"\1:***@", url)
    return re.sub(r"(?i)([?&][^=&]*(?:password|properties)[^=&]*=)[^&]*", r"\1***", url)


def has_user_without_password(url: str) -> bool:
    """Returns whether the URL of a MongoDB store has a user and no password."""
    return bool(_USER_ALONE.match(url))


def with_password(url: str, password: str) -> str:
    """Returns the URL of a MongoDB store that has a user and no password, with this password."""
    return _USER_ALONE.sub(lambda match: f"{match[1]}:{quote(password, safe='')}@", url, count=1)


def address_and_port(text: str) -> tuple[str, int]:
    """Returns the two parts of `ADDRESS:PORT`; an IPv6 address is in brackets. Raises
    ValueError.
    """
    match = _ADDRESS_AND_PORT.fullmatch(text)
    if match is None or int(match[3]) > 65535:
        raise ValueError("must be an IP address and a port, such as 127.0.0.1:9464 or [::1]:9464")
    return str(ip_address(match[1] or match[2])), int(match[3])
