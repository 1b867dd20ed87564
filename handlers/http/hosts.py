"""Checks the Host header, and finds the client's address behind trusted proxies."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct
from tornado.httputil import HTTPServerRequest
from tornado.web import Finish, HTTPError

from handlers.http import forwarding
from idp.config import urls
from idp.config.settings import Config
from idp.service import Service
from idp.start import proxy_warnings


class RequestHandler(Protocol):
    """A handler as the check of its request's host sees it."""

    request: HTTPServerRequest

    @property
    def service(self) -> Service:
        """The running service."""

    def redirect(self, url: str, permanent: bool = False, status: int | None = None) -> None:
        """Sends a redirect."""


class WrongHost(HTTPError):
    """The error that the Host header differs from the issuer's. `requested_origin` is the scheme
    and host that the caller used, which the error page displays."""

    def __init__(self, requested_origin: str, issuer: str) -> None:
        super().__init__(
            421,
            f"this service is {issuer}, not {requested_origin};"
            f" set IDP_ISSUER={requested_origin} to change that",
        )
        self.requested_origin = requested_origin


def check(handler: RequestHandler) -> None:
    """Checks that the Host header is the issuer's host. If both are loopback names with the same
    port, a GET or HEAD is redirected to the issuer.

    Raises Finish after a redirect, WrongHost for any other host, and HTTPError 400 for a request
    target that does not begin with exactly one slash: a redirect to it could lead to another host
    (RFC 9112 3.2).
    """
    config, host = handler.service.config, handler.request.headers.get("Host", "")
    issuer = urlsplit(config.issuer)
    if host.lower() == issuer.netloc:
        return
    if handler.request.method in ("GET", "HEAD") and _is_other_loopback_name(config, host):
        target = handler.request.uri or ""
        if not target.startswith("/") or target.startswith("//"):
            raise HTTPError(400, "the request target must be a path that begins with one slash")
        handler.redirect(config.origin + target, status=308)
        raise Finish
    requested = f"{_scheme(config, handler.request)}://{host}"
    # The host is displayed on a page and logged, so it is repeated only if its characters are
    # plain.
    if not _is_plain(host):
        requested = "an unreadable host"
    raise WrongHost(requested, config.origin)


def _is_other_loopback_name(config: Config, host: str) -> bool:
    """Returns whether both hosts are loopback names with the same port."""
    try:
        requested, issuer = urlsplit(f"//{host}"), urlsplit(config.issuer)
        is_same_port = (requested.port or _default_port(config)) == (
            issuer.port or _default_port(config)
        )
        return config.is_loopback and is_same_port and urls.is_loopback(requested.hostname or "")
    except ValueError:
        return False


def _default_port(config: Config) -> int:
    return 443 if config.is_secure else 80


def _scheme(config: Config, request: HTTPServerRequest) -> str:
    """Returns the caller's scheme: that of the connection, or as a trusted proxy reports it."""
    if not _is_trusted(config.trusted_proxies, request.remote_ip or ""):
        return request.protocol
    scheme = forwarding.scheme(request.headers)
    return scheme if scheme in ("http", "https") else request.protocol


def _is_plain(host: str) -> bool:
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789.-:[]")
    return 0 < len(host) <= 255 and set(host.lower()) <= allowed


def is_local_peer(request: HTTPServerRequest) -> bool:
    """Returns whether the connection comes from this machine.

    Only the socket's address decides, no header: a proxy on another machine is not a local peer,
    whatever it forwards.
    """
    try:
        address = ipaddress.ip_address(request.remote_ip or "")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)  # of an IPv4 peer at an IPv6 socket
    return bool((mapped or address).is_loopback)


class ForwardedClient(Struct, frozen=True):
    """The client of a request: the address of the last one on its way that is known.

    `unknown_hop` is what the trusted proxy with that address states of the sender of the
    request, if that is no address: hidden, unknown or not understood.
    """

    address: str
    unknown_hop: str | None = None


def client(config: Config, request: HTTPServerRequest) -> ForwardedClient:
    """Returns the client. An entry of X-Forwarded-For, Forwarded or X-Real-IP is used only if all
    proxies between its sender and this service are trusted (`trusted_proxies`)."""
    address = request.remote_ip or ""
    if not config.trusted_proxies:
        return ForwardedClient(address)
    # The last entry was added by the nearest proxy; entries left of the first untrusted one can be
    # forged.
    hops = forwarding.hops_from_nearest(request.headers)
    while _is_trusted(config.trusted_proxies, address):
        hop = next(hops, None)
        if hop is None:
            break
        sender = forwarding.address_of(hop)
        if sender is None:
            return ForwardedClient(address, hop)
        address = sender
    return ForwardedClient(address)


def is_shared(config: Config, request: HTTPServerRequest) -> bool:
    """Returns whether many clients may have the address of this request's client: that of a proxy
    that does not state whom it forwards for in a form that is understood, or that is not trusted.
    """
    is_unknown = client(config, request).unknown_hop is not None
    return is_unknown or is_untrusted_proxy(config, request)


def is_untrusted_proxy(config: Config, request: HTTPServerRequest) -> bool:
    """Returns whether the peer seems to be a proxy that `trusted_proxies` does not list: it
    sends X-Forwarded-For, Forwarded or X-Real-IP, and its address is private or loopback, which
    no client on the internet has."""
    peer = request.remote_ip or ""
    if not forwarding.is_forwarded(request.headers) or _is_trusted(config.trusted_proxies, peer):
        return False
    return _is_address(peer) and not ipaddress.ip_address(peer).is_global


def is_from_trusted_proxy(config: Config, request: HTTPServerRequest) -> bool:
    """Returns whether the peer is a proxy that `trusted_proxies` lists."""
    return _is_trusted(config.trusted_proxies, request.remote_ip or "")


def warn_of_proxy(service: Service, request: HTTPServerRequest) -> None:
    """Warns the operator that the request's peer, which states for whom it forwards, is not a
    trusted proxy, or that a trusted one states it in a form that is not understood."""
    peer = request.remote_ip or ""
    if _is_address(peer) and not _is_trusted(service.config.trusted_proxies, peer):
        proxy_warnings.warn(service, peer)
        return
    found = client(service.config, request)
    if found.unknown_hop is not None:
        proxy_warnings.warn_of_hop(service, found.address, found.unknown_hop)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_trusted(networks: tuple[str, ...], address: str) -> bool:
    plain = forwarding.address_of(address)  # of an IPv4 peer at an IPv6 socket
    if plain is None:
        return False
    return any(ipaddress.ip_address(plain) in network for network in _networks(networks))


@lru_cache(maxsize=8)
def _networks(
    texts: tuple[str, ...],
) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)
