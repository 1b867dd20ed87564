"""TXT records, as the name servers of this machine return them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver


class NoDnsAnswer(Exception):
    """There are none, or no server answered; the text says why, for the log."""


async def read(name: str) -> list[str]:
    """The TXT records of a name. Raises NoDnsAnswer."""
    from dns.exception import DNSException

    try:
        resolver = await asyncio.to_thread(_resolver)
        answer = await resolver.resolve(name, "TXT", search=False)
    except DNSException as error:
        raise NoDnsAnswer(f"{type(error).__name__}: {error}") from error
    return [b"".join(each.strings).decode("ascii", "replace") for each in answer]


def _resolver() -> Resolver:
    """One that reads the machine's settings; loading it takes longer than a request may."""
    from dns.asyncresolver import Resolver

    return Resolver()
