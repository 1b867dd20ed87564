"""TXT records, read from the name servers that this machine is configured to use."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver


class NoDnsAnswer(Exception):
    """The name has no TXT records, or no server answered; the text is the reason, for the log."""


async def read(name: str) -> list[str]:
    """Returns the TXT records of a domain name. Raises NoDnsAnswer."""
    from dns.exception import DNSException

    try:
        resolver = await asyncio.to_thread(_resolver)
        answer = await resolver.resolve(name, "TXT", search=False)
    except DNSException as error:
        raise NoDnsAnswer(f"{type(error).__name__}: {error}") from error
    return [b"".join(each.strings).decode("ascii", "replace") for each in answer]


def _resolver() -> Resolver:
    """Returns a resolver with the machine's settings; loading takes longer than a request may."""
    from dns.asyncresolver import Resolver

    return Resolver()
