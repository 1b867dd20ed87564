"""Addresses in settings: whether one is of this machine, and its form without a password."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


def is_loopback(host: str) -> bool:
    """Whether a host, without port and brackets, can only be this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def without_password(url: str) -> str:
    """A store's URL as it may be shown: without password, and without secrets in its query."""
    url = re.sub(r"(?<=://)([^:/@]*):.*@", r"\1:***@", url)
    return re.sub(r"(?i)([?&][^=&]*(?:password|properties)[^=&]*=)[^&]*", r"\1***", url)
