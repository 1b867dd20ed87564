"""Addresses in settings: whether one is on the local machine, and its form without a password."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final

_ADDRESS_AND_PORT: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):([0-9]{1,5})")


def is_loopback(host: str) -> bool:
    """Returns whether the host, given without port and brackets, is the local machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def without_password(url: str) -> str:
    """Returns a store's URL for display: without password, and without secrets in its query."""
    url = re.sub(r"(?<=://)([^:/@]*):.*@", r"\1:***@", url)
    return re.sub(r"(?i)([?&][^=&]*(?:password|properties)[^=&]*=)[^&]*", r"\1***", url)


def address_and_port(text: str) -> tuple[str, int]:
    """Returns the two parts of `ADDRESS:PORT`; an IPv6 address is in brackets. Raises
    ValueError.
    """
    found = _ADDRESS_AND_PORT.fullmatch(text)
    if found is None or int(found[3]) > 65535:
        raise ValueError("must be an IP address and a port, such as 127.0.0.1:9464 or [::1]:9464")
    return str(ip_address(found[1] or found[2])), int(found[3])
