"""Addresses that send `X-Forwarded-For` though `trusted_proxies` does not name them.

As a rule that is a reverse proxy which somebody forgot to name: everybody has its address then.
"""

from __future__ import annotations

from typing import Final

MOST: Final = 20  # addresses that one process warns of: anybody can send the header


class UntrustedProxies:
    """Those that this process has warned of since it started."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def is_new(self, address: str) -> bool:
        """Whether the process has to warn of this one, which it then has done."""
        if address in self._known or len(self._known) >= MOST:
            return False
        self._known.add(address)
        return True
