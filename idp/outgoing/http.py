"""Calls to addresses that others have registered, which must not lead into closed networks (SSRF).

A name is resolved once, every address that it has is checked, and the connection is made to one of
them: nothing can change in between. No redirect is followed and no proxy is used. The service's
own calls to addresses that the operator chose are made here, too, into any network.
"""

from __future__ import annotations

import asyncio
import copy
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlencode, urlsplit

from idp import __version__
from idp.config.settings import Config
from idp.foundation import tracing
from idp.outgoing import name_servers
from idp.outgoing.call_slots import CallSlots
from idp.outgoing.failures import Failed, NotAllowed, TimedOut
from idp.outgoing.name_resolution import Address, NameResolution, literal_address

if TYPE_CHECKING:
    from idp.outgoing.client import Destination, HttpAnswer

SECONDS: Final = 5.0
MAX_CALLS: Final = 96
MAX_CALLS_PER_HOST: Final = 16  # a slow one leaves room for the others
MAX_CALLS_PER_OWNER: Final = 12  # so does an organization with slow ones
MAX_OWN_CALLS: Final = 16  # to addresses of the operator; other calls do not delay them
MAX_BODY_BYTES: Final = 8 * 1024  # of a longer body, the rest is not read
_USUAL_PORTS: Final = {"http": 80, "https": 443}
# The global unicast addresses of IPv6; but not the tunnels, which lead to any IPv4 address.
_UNICAST: Final = ip_network("2000::/3")
_TUNNELS: Final = [ip_network(each) for each in ("2001::/32", "2002::/16")]
# Networks that a service on a developer's own machine may call as well.
_PRIVATE_NETWORKS: Final = [
    ip_network(each)
    for each in ("127.0.0.0/8", "::1", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
]

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
ReadTxtRecords = Callable[[str], Awaitable[Sequence[str]]]


class Outgoing:
    """Makes the calls of this process to other servers, a limited number at a time; the
    others wait.

    `owner` is the id of the organization that has chosen the addresses, which has a limit of its
    own (`for_owner`); None for the operator.
    """

    owner: str | None = None

    def __init__(
        self,
        resolve: Resolve | None = None,
        seconds: float = SECONDS,
        read_txt_records: ReadTxtRecords = name_servers.txt_records,
    ) -> None:
        self._resolve: Resolve = resolve or NameResolution()
        self._seconds = seconds
        self._read_txt_records = read_txt_records
        self._slots = CallSlots(MAX_CALLS, MAX_CALLS_PER_HOST, MAX_CALLS_PER_OWNER)
        self._own_slots = CallSlots(MAX_OWN_CALLS, MAX_OWN_CALLS, MAX_OWN_CALLS)

    def for_owner(self, owner: str | None) -> Outgoing:
        """Returns a copy that makes the calls to addresses that the organization `owner` has
        chosen (None: the operator)."""
        calls = copy.copy(self)
        calls.owner = owner
        return calls

    async def exchange(
        self,
        config: Config | None,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        max_bytes: int,
        seconds: float,
    ) -> HttpAnswer:
        """Makes one call; returns the status of the response and at most `max_bytes` of its body.

        With `config`, the call is made only to addresses that these settings allow; with None, to
        any. It takes at most twice `seconds`: once until fewer than the allowed number of calls
        are in progress, and once for the call. Raises Failed.
        """
        parts = _checked(url, is_own=config is None)
        host = parts.hostname or ""
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        slots = self._own_slots if config is None else self._slots
        with tracing.call(f"call {host}", host) as span:
            async with slots.acquired(host, self.owner, seconds):
                import h11

                from idp.outgoing import client

                # Only the operator's own hooks continue a trace: its ids are not disclosed to
                # other servers.
                trace_headers = tracing.headers() if config is None and method == "POST" else {}
                request = h11.Request(
                    method=method,
                    target=target,
                    headers=_headers(method, parts, {**headers, **trace_headers}, body),
                )
                answer = await client.exchange(
                    await self._destination(config, parts),
                    request,
                    body,
                    max_bytes=max_bytes,
                    seconds=seconds,
                )
            span.set("http.response.status_code", answer.status)
            return answer

    async def post_form(self, config: Config, url: str, form: Mapping[str, str]) -> int:
        """Sends a form by POST to an address that a client registered; returns the status of the
        response.

        `config` decides which networks may be called. Raises Failed.
        """
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return await self._post(config, url, headers, urlencode(form).encode())

    async def post_own(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """Sends JSON by POST to an address that the operator chose, in any network; returns the
        status of the response.

        Raises Failed.
        """
        return await self._post(None, url, {"Content-Type": "application/json", **headers}, body)

    async def _post(
        self, config: Config | None, url: str, headers: Mapping[str, str], body: bytes
    ) -> int:
        answer = await self.exchange(
            config, "POST", url, headers, body, max_bytes=0, seconds=self._seconds
        )
        return answer.status

    async def get_lines(self, config: Config, url: str) -> tuple[int, list[str]]:
        """Calls an address by GET, in networks that `config` allows; returns the status and the
        lines of the body, which is truncated to MAX_BODY_BYTES.

        Raises Failed.
        """
        status, text = await self._get(config, url)
        return status, text.splitlines()

    async def get_own(self, url: str) -> tuple[int, str]:
        """Calls an address of the service itself by GET, in any network; returns the HTTP status
        and the body as text.

        Raises Failed.
        """
        return await self._get(None, url)

    async def _get(self, config: Config | None, url: str) -> tuple[int, str]:
        answer = await self.exchange(
            config, "GET", url, {}, b"", max_bytes=MAX_BODY_BYTES, seconds=self._seconds
        )
        return answer.status, answer.body.decode("utf-8", "replace")

    async def certificate(self, url: str) -> Mapping[str, object]:
        """Returns the certificate at an https address of the service itself, in the form of
        `ssl.SSLSocket.getpeercert`.

        Raises Failed, also if the certificate is not trusted, or is for another name.
        """
        parts = _checked(url, is_own=True)
        async with self._own_slots.acquired(parts.hostname or "", None, self._seconds):
            from idp.outgoing import client

            destination = await self._destination(None, parts)
            return await client.certificate(destination, seconds=self._seconds)

    async def _destination(self, config: Config | None, parts: SplitResult) -> Destination:
        from idp.outgoing.client import Destination

        # In a thread: the trusted certificates are loaded once, which takes longer than a request.
        tls = await asyncio.to_thread(_tls) if parts.scheme == "https" else None
        return Destination(*_target(parts), partial(self._addresses, config), tls)

    async def addresses(self, host: str) -> Sequence[str]:
        """Returns the addresses of a host, as calls resolve them. Raises OSError, UnicodeError."""
        return await self._resolve(host, _USUAL_PORTS["https"])

    async def txt_records(self, name: str) -> Sequence[str]:
        """Returns the TXT records of a domain name. Raises Failed."""
        async with self._slots.acquired(name, self.owner, self._seconds):
            try:
                async with asyncio.timeout(self._seconds):
                    return await self._read_txt_records(name)
            except TimeoutError:
                raise TimedOut(self._seconds) from None

    async def _addresses(self, config: Config | None, host: str, port: int) -> Sequence[str]:
        """Returns the addresses of a host. With `config`, these settings must allow all of them.

        Raises NotAllowed, OSError, UnicodeError.
        """
        addresses = await self._resolve(host, port)
        for address in addresses:
            if config is not None and not may_be_called(config, ip_address(address)):
                raise NotAllowed(f"{host} is {address}: an address that may not be called")
        return addresses


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def check_registered(config: Config, url: str) -> None:
    """Checks an address that is registered to be called later, as far as that is possible without
    resolving its host: the addresses of a name are checked at each call, and would reveal which
    names exist in a closed network. Raises Failed.
    """
    host = _checked(url).hostname or ""
    address = _registered_address(host)
    if address is not None and not may_be_called(config, address):
        raise NotAllowed("it belongs to a network that may not be called")


def _registered_address(host: str) -> Address | None:
    """Returns the address that a host is without resolving it; None for another name."""
    name = host.rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):  # RFC 6761 6.3
        return ip_address("127.0.0.1")
    return literal_address(name.partition("%")[0])


def _checked(url: str, *, is_own: bool = False) -> SplitResult:
    """Returns the parts of an address that can be called; only the operator's own may have any
    port.

    Raises Failed.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Failed("the address is no URL") from None
    if parts.scheme not in _USUAL_PORTS or not parts.hostname or "@" in parts.netloc:
        raise Failed("the address is not that of a web server")
    if not url.isascii() or re.search(r"[\x00-\x20\x7f\\]", url):
        raise Failed("the address holds a character that no URL has")
    if not is_own and port is not None and port < 1024 and port not in _USUAL_PORTS.values():
        raise Failed(f"port {port} is not a web server's")
    return parts


def may_be_called(config: Config, address: Address) -> bool:
    """Returns whether an address is in the public network, or in a network that the settings open
    for calls.
    """
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    networks = [ip_network(each) for each in config.outgoing_networks]
    # Not if others can reach the service: they could call the operator's network through it.
    if config.is_loopback and not config.allow_trial_network:
        networks += _PRIVATE_NETWORKS
    if any(address in network for network in networks):
        return True
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, IPv4Address):
        return True
    return address in _UNICAST and not any(address in network for network in _TUNNELS)


def _target(parts: SplitResult) -> tuple[str, int]:
    return parts.hostname or "", parts.port or _USUAL_PORTS[parts.scheme]


def _headers(
    method: str, parts: SplitResult, headers: Mapping[str, str], body: bytes
) -> list[tuple[str, str]]:
    length = {} if method == "GET" else {"Content-Length": str(len(body))}
    return [
        ("Host", parts.netloc),
        ("User-Agent", f"idp/{__version__}"),
        ("Accept", "*/*"),
        ("Accept-Encoding", "identity"),
        *headers.items(),
        *length.items(),
        ("Connection", "close"),
    ]
