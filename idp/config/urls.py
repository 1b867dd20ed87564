"""Addresses in settings: whether one is on the local machine, and its form without a password."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


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
