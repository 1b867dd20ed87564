"""TXT records, read from the name servers that this machine is configured to use."""

from __future__ import annotations

from idp.outgoing import name_servers


class NoDnsAnswer(Exception):
    """The name has no TXT records, or no server answered; the text is the reason, for the log."""


async def read(name: str) -> list[str]:
    """Returns the TXT records of a domain name. Raises NoDnsAnswer."""
    resolver = await name_servers.resolver()
    from dns.exception import DNSException

    try:
        answer = await resolver.resolve(name, "TXT", search=False)
    except DNSException as error:
        raise NoDnsAnswer(f"{type(error).__name__}: {error}") from error
    return [b"".join(each.strings).decode("ascii", "replace") for each in answer]
