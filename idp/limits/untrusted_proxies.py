"""What the log has warned of about proxies since the process started.

As a rule an address that sends `X-Forwarded-For` and is not in `trusted_proxies` is a reverse
proxy missing in the settings: all users have its address then.
"""

from __future__ import annotations

from typing import Final

MAX_ADDRESSES: Final = 20  # addresses per process: every client can send the header


class UntrustedProxies:
    """The addresses of which this process has warned in its log since it started, and other texts
    that name a warning."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def is_new(self, address: str) -> bool:
        """Returns True for the first call with this address since the process started, so that the
        caller warns of it once; False for later ones."""
        if address in self._known or len(self._known) >= MAX_ADDRESSES:
            return False
        self._known.add(address)
        return True
