"""Calls to addresses that others have registered, which must not lead into closed networks.

A name is resolved once, every address that it has is checked, and the connection goes to one of
these: nothing can change in between. No redirect is followed, no proxy is asked, and of the answer
the status counts and at most some lines. That is so little of HTTP that it is spoken here: a head
and perhaps a form go out, and `idp/outgoing/http_answers.py` reads what comes back.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import SOCK_STREAM
from typing import Final, TypeVar
from urllib.parse import SplitResult, urlencode, urlsplit

from idp import __version__
from idp.config.settings import Config
from idp.outgoing import dns_txt, http_answers

SECONDS: Final = 5.0
AT_ONCE: Final = 64
MAX_LINE_BYTES: Final = 8 * 1024
MAX_BODY_BYTES: Final = 64 * 1024
_USUAL_PORTS: Final = {"http": 80, "https": 443}
# Of IPv6, what is given out to be reached; but not the tunnels, which lead to any IPv4 address.
_UNICAST: Final = ip_network("2000::/3")
_TUNNELS: Final = [ip_network(each) for each in ("2001::/32", "2002::/16")]
# What a service on a developer's own machine may call as well.
_NEARBY: Final = [
    ip_network(each)
    for each in ("127.0.0.0/8", "::1", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
]

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
ReadTexts = Callable[[str], Awaitable[Sequence[str]]]
T = TypeVar("T")


class Failed(Exception):
    """The call was not made, or nothing came of it; the text says why, for the log."""


class NotAllowed(Failed):
    """The address belongs to a network that is not open for calls."""


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system finds them. Raises OSError, UnicodeError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    return [str(sockaddr[0]) for *_, sockaddr in found]


class Outgoing:
    """Makes the calls of a process, not too many at once."""

    def __init__(
        self,
        resolve: Resolve = resolve,
        seconds: float = SECONDS,
        read_texts: ReadTexts = dns_txt.read,
    ) -> None:
        self._resolve = resolve
        self._seconds = seconds
        self._read_texts = read_texts
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def post_form(self, config: Config, url: str, form: Mapping[str, str]) -> int:
        """POST a form to a client's address; the status of the answer.

        It takes at most twice the time of a call: for a slot, and for the call. Raises Failed.
        """
        parts = _checked(url)
        async with self._slot():
            return await self._call(config, parts, _post(parts, urlencode(form)), _status)

    async def post_own(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """POST JSON to an address that the operator chose, in whatever network; the status.

        Raises Failed.
        """
        parts = _checked(url, is_own=True)
        fields = [f"{name}: {value}" for name, value in headers.items()]
        head = _request(
            "POST",
            parts,
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *fields,
        )
        async with self._slot():
            return await self._call(None, parts, head + body, _status)

    async def get_lines(self, config: Config, url: str) -> tuple[int, list[str]]:
        """GET an address: the status, and the first lines of the body.

        Raises Failed.
        """
        parts = _checked(url)
        async with self._slot():
            return await self._call(config, parts, _get(parts), _status_and_lines)

    async def get_own(self, url: str) -> tuple[int, str]:
        """GET an address of the service itself, in whatever network: the status and the body.

        Raises Failed.
        """
        parts = _checked(url, is_own=True)
        async with self._slot():
            return await self._call(None, parts, _get(parts), _status_and_text)

    async def certificate(self, url: str) -> Mapping[str, object]:
        """The certificate at an https address of the service itself, as `ssl` describes it.

        Raises Failed: also where the certificate is not trusted, or is another name's.
        """
        parts = _checked(url, is_own=True)
        try:
            async with self._slot(), asyncio.timeout(self._seconds):
                _, writer = await self._connect(None, parts)
        except TimeoutError:
            raise Failed(f"no answer within {self._seconds:g} s") from None
        except (OSError, UnicodeError) as error:
            raise Failed(f"{type(error).__name__}: {error}") from error
        found: Mapping[str, object] = writer.get_extra_info("peercert") or {}
        writer.transport.abort()
        return found

    async def texts(self, name: str) -> Sequence[str]:
        """The TXT records of a name. Raises Failed."""
        async with self._slot():
            try:
                async with asyncio.timeout(self._seconds):
                    return await self._read_texts(name)
            except TimeoutError:
                raise Failed(f"no answer within {self._seconds:g} s") from None
            except dns_txt.NoDnsAnswer as error:
                raise Failed(str(error)) from error

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._seconds):
                await self._slots.acquire()
        except TimeoutError:
            raise Failed("too many calls are under way") from None
        try:
            yield
        finally:
            self._slots.release()

    async def _call(
        self,
        config: Config | None,
        parts: SplitResult,
        request: bytes,
        read: Callable[[asyncio.StreamReader], Awaitable[T]],
    ) -> T:
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(self._seconds):
                reader, writer = await self._connect(config, parts)
                writer.write(request)
                answer = await read(reader)
            await _hear_out(reader)
            return answer
        except TimeoutError:
            raise Failed(f"no answer within {self._seconds:g} s") from None
        except http_answers.Unreadable as error:
            raise Failed(str(error)) from error
        except (OSError, EOFError, UnicodeError, asyncio.LimitOverrunError) as error:
            raise Failed(f"{type(error).__name__}: {error}") from error
        finally:
            if writer is not None:
                writer.transport.abort()

    async def _connect(
        self, config: Config | None, parts: SplitResult
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection; with settings, to an address that these allow to be called."""
        host, port = parts.hostname or "", parts.port or _USUAL_PORTS[parts.scheme]
        found = await self._resolve(host, port)
        for address in found:
            if config is not None and not may_be_called(config, ip_address(address)):
                raise NotAllowed(f"{host} is {address}: an address that may not be called")
        context = _tls() if parts.scheme == "https" else None
        name = host if context else None
        error: OSError = OSError(f"{host} has no address")
        for address in found:
            try:
                return await asyncio.open_connection(
                    address, port, limit=MAX_LINE_BYTES, ssl=context, server_hostname=name
                )
            except OSError as refusal:
                error = refusal
        raise error


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _checked(url: str, *, is_own: bool = False) -> SplitResult:
    """The parts of an address that can be called at all; the operator's own may have any port.

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
    """Whether the address belongs to the public network, or to one that was opened for calls."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    networks = [ip_network(each) for each in config.outgoing_networks]
    if config.is_loopback and not config.allow_trial_network:
        networks += _NEARBY
    if any(address in network for network in networks):
        return True
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, IPv4Address):
        return True
    return address in _UNICAST and not any(address in network for network in _TUNNELS)


def _post(parts: SplitResult, body: str) -> bytes:
    kind = "Content-Type: application/x-www-form-urlencoded"
    return _request("POST", parts, kind, f"Content-Length: {len(body)}", body=body)


def _get(parts: SplitResult) -> bytes:
    return _request("GET", parts, "Accept-Encoding: identity")


def _request(method: str, parts: SplitResult, *headers: str, body: str = "") -> bytes:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = (
        f"{method} {target} HTTP/1.1",
        f"Host: {parts.netloc}",
        f"User-Agent: idp/{__version__}",
        "Accept: */*",
        *headers,
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode("ascii")


async def _status(reader: asyncio.StreamReader) -> int:
    return (await http_answers.head(reader)).status


async def _status_and_text(reader: asyncio.StreamReader) -> tuple[int, str]:
    """The status, and the first of the body."""
    head = await http_answers.head(reader)
    body = await http_answers.body(reader, head)
    return head.status, body.decode("utf-8", "replace")


async def _status_and_lines(reader: asyncio.StreamReader) -> tuple[int, list[str]]:
    status, text = await _status_and_text(reader)
    return status, text.splitlines()


async def _hear_out(reader: asyncio.StreamReader) -> None:
    """Take some of the rest, so that the other side is not cut off while it speaks."""
    heard = 0
    with suppress(OSError):
        async with asyncio.timeout(0.5):
            while heard < MAX_BODY_BYTES and (more := await reader.read(MAX_LINE_BYTES)):
                heard += len(more)
