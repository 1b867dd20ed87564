"""The origin of an attempt at a password or a code."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

from msgspec import Struct

from idp.config.settings import Config
from idp.foundation.network_keys import SITE_FACTOR, network_key, site_key
from idp.records import Browser

SHARED_FACTOR: Final = 50  # times the limits of one network, for an address that many users share


class AttemptOrigin(Struct, frozen=True):
    """The origin of an attempt: the IP address, the browser if its cookie was valid, and the
    OAuth client that the user signs in to, with its organization.

    `is_shared` means that the address is that of a proxy that `trusted_proxies` does not name, so
    that all its users have this address.
    """

    address: str
    browser: Browser | None = None
    client_id: str | None = None
    org_id: str | None = None
    is_shared: bool = False

    @property
    def network(self) -> str:
        """The key of the network for which the attempt is counted (`network_key` of the
        address)."""
        return network_key(self.address)

    @property
    def has_user(self) -> bool:
        """Whether a user has signed in in the browser before."""
        return self.browser is not None and bool(self.browser.known)

    @property
    def counting_key(self) -> str:
        """The key under which device codes and long requests are counted: the browser if a user
        has signed in there before, so that strangers in the same network can't use up its limit;
        else the network."""
        if self.browser is not None and self.has_user:
            return f"browser:{self.browser.id}"
        return self.network

    @property
    def site(self) -> str | None:
        """The /48 of an IPv6 address, in which one customer has 65,536 networks; None for IPv4."""
        return site_key(self.address)

    @property
    def factor(self) -> int:
        """The factor by which the limits of one network are multiplied: more than 1 if
        `is_shared`."""
        return SHARED_FACTOR if self.is_shared else 1

    def limits(self, limit: int, site_factor: int = SITE_FACTOR) -> list[tuple[str, int]]:
        """Returns the keys under which the attempt is counted, each with its limit: the network
        with `limit`, and for IPv6 also the /48 with `site_factor` times as much; all of it
        multiplied by `factor`."""
        limits = [(self.network, limit * self.factor)]
        if self.site is not None:
            limits.append((self.site, limit * self.factor * site_factor))
        return limits

    def is_exempt(self, config: Config) -> bool:
        """Returns whether the operator has exempted the network (`known_networks`) from limits on
        attempts at passwords, on requests without a user and on the number of its mails."""
        return bool(config.known_networks) and _is_in(config.known_networks, self.address)


def _is_in(networks: tuple[str, ...], address: str) -> bool:
    try:
        client_ip = ip_address(address)
    except ValueError:
        return False
    # On a dual-stack socket, IPv4 clients have mapped addresses.
    mapped = getattr(client_ip, "ipv4_mapped", None)
    return any((mapped or client_ip) in network for network in _parsed(networks))


@lru_cache(maxsize=8)
def _parsed(texts: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(text, strict=False) for text in texts)
