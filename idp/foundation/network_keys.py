"""The network to which a client address belongs in limits and counters."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

SITE_FACTOR: Final = 4  # times the limits of one network, for the /48 of an IPv6 address
_CACHE_SIZE: Final = 4096  # addresses: a megabyte at most
_SITE_BITS: Final = 48  # usually assigned to one customer of a provider (RFC 6177)
_SUBNET_BITS: Final = 64  # one device can use any address in it (RFC 4291 2.5.1)


@lru_cache(_CACHE_SIZE)
def network_key(address: str) -> str:
    """Returns the key by which limits, counters and events group client addresses.

    An IPv4 address is its own network; an IPv6 address belongs to its /64, and an IPv4 address
    mapped into IPv6 is treated as that IPv4 address. A text that is not an address is returned
    unchanged.
    """
    return _network(address, _SUBNET_BITS)


def client_key(address: str) -> str:
    """Returns the key of the client to which an address belongs where clients take turns: the /48
    of an IPv6 address, or the IPv4 address."""
    return site_of(network_key(address))


def site_key(address: str) -> str | None:
    """Returns the /48 of an IPv6 address, in which one customer has many /64; None for IPv4."""
    site = client_key(address)
    return site if "/" in site else None


@lru_cache(_CACHE_SIZE)
def site_of(network: str) -> str:
    """Returns the site to which a network belongs (a value of `network_key`): of a /64 the /48, in
    which one customer has 65,536 of them; an IPv4 address is a site of its own."""
    site = _network(network.removesuffix(f"/{_SUBNET_BITS}"), _SITE_BITS)
    return site if "/" in site else network


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
