"""The network to which a client address belongs in limits and counters."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

_SITE_BITS: Final = 48  # usually assigned to one customer of a provider (RFC 6177)
_SUBNET_BITS: Final = 64  # one device can use any address in it (RFC 4291 2.5.1)


def network_key(address: str) -> str:
    """Returns the key by which limits, counters and events group client addresses.

    An IPv4 address is its own network; an IPv6 address belongs to its /64, and an IPv4 address
    mapped into IPv6 is treated as that IPv4 address. A text that is not an address is returned
    unchanged.
    """
    return _network(address, _SUBNET_BITS)


def site_key(address: str) -> str | None:
    """Returns the /48 of an IPv6 address, in which one customer has many /64; None for IPv4."""
    key = _network(address, _SITE_BITS)
    return key if "/" in key else None


def _network(address: str, bits: int) -> str:
    try:
        parsed = ip_address(address.partition("%")[0])  # a link-local address may name a zone
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((parsed, bits), strict=False))
