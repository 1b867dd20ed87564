"""The name servers that this machine is configured to use, asked without a thread."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from idp.outgoing.failures import Failed

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver

PATH: Final = "/etc/resolv.conf"
SECONDS: Final = 2.0
_LOADED: Final = "dns.asyncresolver"


async def resolver(path: str = PATH) -> Resolver:
    """Returns a resolver with the settings that resolv.conf(5) has now. A look-up takes at most
    `SECONDS`, and ends when it is cancelled.
    """
    if _LOADED not in sys.modules:
        await asyncio.to_thread(_load)
    return _configured(path)


async def txt_records(name: str) -> Sequence[str]:
    """Returns the TXT records of a domain name. Raises Failed."""
    asked = await resolver()
    from dns.exception import DNSException

    try:
        answer = await asked.resolve(name, "TXT", search=False)
    except DNSException as error:
        raise Failed(f"{type(error).__name__}: {error}") from error
    return [b"".join(each.strings).decode("ascii", "replace") for each in answer]


def _load() -> None:
    """Imports dnspython, which takes longer than a request may."""
    import dns.asyncbackend
    import dns.asyncresolver

    dns.asyncbackend.get_backend("asyncio")


def _configured(path: str) -> Resolver:
    from dns.asyncresolver import Resolver
    from dns.resolver import NoResolverConfiguration

    try:
        found = Resolver(path)
    except NoResolverConfiguration:
        found = Resolver(configure=False)
        found.nameservers = ["127.0.0.1"]  # as resolv.conf(5) says
    found.lifetime = SECONDS
    # Each server is asked in that time, and the first of them once more: a packet may get lost.
    found.timeout = SECONDS / (len(found.nameservers) + 1)
    return found
