"""HTTP/1.1 and TLS by httpcore, over connections to addresses that the caller has checked.

Everything that another server sends has a bound, in bytes and in time. `idp/outgoing/http.py`
loads this module at the first call: loading httpcore and anyio takes 50 ms.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from typing import Any, Final, cast

import anyio
import httpcore
from msgspec import Struct

from idp.outgoing.failures import Failed, TimedOut

MAX_FRAMING_BYTES: Final = 16 * 1024
MAX_UNREAD_BYTES: Final = 64 * 1024  # read after the part of a body that the caller requested
_MIN_READ_BYTES: Final = 4 * 1024  # anyio copies what it holds at every read
_UNREAD_SECONDS: Final = 0.5
_MIN_CHUNK_FRAMING: Final = 5  # a size of one digit, and two line ends
_HTTP_1_0: Final = b"HTTP/1.0"
_TIMEOUTS: Final = ("connect", "read", "write")
_ERRORS: Final = (
    httpcore.ProtocolError,
    httpcore.NetworkError,
    httpcore.TimeoutException,
    OSError,
    Failed,
)

Addresses = Callable[[str, int], Awaitable[Sequence[str]]]

# At the level debug, it would write every header of every answer into the log.
logging.getLogger("httpcore").setLevel(logging.WARNING)


class HttpAnswer(Struct, frozen=True):
    """The status of an HTTP response, and the first bytes of its body."""

    status: int
    body: bytes


async def exchange(
    request: httpcore.Request,
    addresses: Addresses,
    context: ssl.SSLContext | None,
    *,
    max_bytes: int,
    seconds: float,
) -> HttpAnswer:
    """Sends a request over a new connection; returns the response with at most `max_bytes` of its
    body.

    `addresses` is called once with host and port, and returns the addresses that may be connected
    to. `context` is for https. Resolving, connection, TLS, head and body together take at most
    `seconds`. No redirect is followed and no proxy is used. Raises Failed.
    """
    request.extensions["timeout"] = dict.fromkeys(_TIMEOUTS, seconds)
    network = _CheckedBackend(addresses)
    connection = httpcore.AsyncHTTPConnection(
        request.url.origin, ssl_context=context, network_backend=network
    )
    call_deadline = anyio.current_time() + seconds
    try:
        with _failures(seconds):
            response = await connection.handle_async_request(request)
            if max_bytes:
                _check_framing(response)
            stream: _Stream = response.extensions["network_stream"]
            pieces = aiter(cast(AsyncIterable[bytes], response.stream))
            body = await _body(stream, pieces, max_bytes)
        await _read_rest(stream, pieces, call_deadline)
        return HttpAnswer(response.status, body)
    finally:
        await network.aclose()


async def certificate(
    host: str, port: int, addresses: Addresses, context: ssl.SSLContext, *, seconds: float
) -> Mapping[str, object]:
    """Returns the certificate that a server presents, in the form of `ssl.SSLSocket.getpeercert`.

    `addresses` is called once with host and port, and returns the addresses that may be connected
    to; everything together takes at most `seconds`. Raises Failed, also if the context does not
    trust the certificate, or it is for another name.
    """
    network = _CheckedBackend(addresses)
    try:
        with _failures(seconds):
            stream = await network.connect_tcp(host, port)
            stream = await stream.start_tls(context, host)
            tls: ssl.SSLObject = stream.get_extra_info("ssl_object")
            return tls.getpeercert() or {}
    finally:
        await network.aclose()


@contextmanager
def _failures(seconds: float) -> Iterator[None]:
    """Sets a deadline for the block, and raises its errors as Failed.

    The scope of anyio cancels until the block has been left: a cancellation that Python 3.11 loses
    where it comes together with a result is repeated.
    """
    try:
        with anyio.fail_after(seconds):
            yield
    except (TimeoutError, httpcore.TimeoutException):
        raise TimedOut(seconds) from None
    except httpcore.ProtocolError as error:
        # After the colon, h11 repeats the data that the other server sent.
        raise Failed(f"the answer is not HTTP/1.1: {str(error).partition(':')[0]}") from None
    except (httpcore.NetworkError, OSError, UnicodeError) as error:
        cause = _first_cause(error)
        raise Failed(f"{type(cause).__name__}: {cause}") from error


def _first_cause(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _check_framing(response: httpcore.Response) -> None:
    """Raises Failed if the end of the body can't be determined (RFC 9112 6.1)."""
    names = {name.lower() for name, _ in response.headers}
    if response.extensions["http_version"] == _HTTP_1_0 and b"transfer-encoding" in names:
        raise Failed("the answer has a transfer encoding, which HTTP/1.0 does not know")


async def _body(stream: _Stream, pieces: AsyncIterator[bytes], max_bytes: int) -> bytes:
    """Returns the body, or its first `max_bytes`."""
    stream.begin_body()
    body = bytearray()
    while len(body) < max_bytes and (piece := await anext(pieces, None)) is not None:
        body += piece
        stream.remaining += len(piece) + _MIN_CHUNK_FRAMING
    return bytes(body[:max_bytes])


async def _read_rest(stream: _Stream, pieces: AsyncIterator[bytes], call_deadline: float) -> None:
    """Reads some of the rest, so that the other side is not cut off while it sends."""
    stream.remaining = MAX_UNREAD_BYTES
    deadline = min(call_deadline, anyio.current_time() + _UNREAD_SECONDS)
    with anyio.CancelScope(deadline=deadline), suppress(*_ERRORS):
        async for _ in pieces:
            pass


class _Stream(httpcore.AsyncNetworkStream):
    """A connection that limits how many bytes are read besides those of the body.

    Bytes that are read are subtracted from `remaining`, and `_body` adds those of the body again.
    So the head with all provisional answers, the extensions of chunks and the trailers have
    MAX_FRAMING_BYTES together. The limit is exact for the head; after it, one short read may
    exceed it.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self.remaining = MAX_FRAMING_BYTES
        self._min_size = 1

    def begin_body(self) -> None:
        """Allows the first read after a head that used up all the bytes."""
        self.remaining = max(self.remaining, 1)
        self._min_size = _MIN_READ_BYTES

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self.remaining <= 0:
            raise Failed("the answer has too many header or trailer fields")
        size = min(max_bytes, max(self.remaining, self._min_size))
        data = await self._stream.read(size, timeout)
        self.remaining -= len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to the first address of a host that listens. `aclose` closes the connection that
    was opened.
    """

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._tcp = httpcore.AnyIOBackend()
        self._connected: httpcore.AsyncNetworkStream | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        error: Exception = OSError(f"{host} has no address")
        for address in await self._addresses(host, port):
            try:
                self._connected = await self._tcp.connect_tcp(address, port, timeout)
            except httpcore.ConnectError as refusal:
                error = refusal
            else:
                return _Stream(self._connected)
        raise error

    async def aclose(self) -> None:
        if self._connected is not None:
            await self._connected.aclose()


def load() -> None:
    """Imports the modules that anyio imports at its first use, which takes some time: to be called
    in a thread."""
    anyio.run(anyio.sleep, 0)
