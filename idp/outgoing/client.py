"""HTTP/1.1 by h11, over connections to addresses that the caller has checked.

Everything that another server sends has a bound, in bytes and in time.
"""

from __future__ import annotations

import asyncio
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final

import h11
from msgspec import Struct

from idp.outgoing.failures import Failed, TimedOut

MAX_FRAMING_BYTES: Final = 16 * 1024
MAX_UNREAD_BYTES: Final = 64 * 1024  # read after the part of a body that the caller requested
_UNREAD_SECONDS: Final = 0.5
_SHUTDOWN_SECONDS: Final = 1.0  # for the end of TLS, which no caller waits for
_LARGEST_FRAMING: Final = 5  # bytes for each of a body, at worst: a chunk size and two line ends


class HttpAnswer(Struct, frozen=True):
    """The status of an HTTP response, and the first bytes of its body."""

    status: int
    body: bytes


class Destination(Struct, frozen=True):
    """The server to call: its host and port, a function that returns the addresses of both that
    may be connected to, and the settings of TLS for https."""

    host: str
    port: int
    addresses: Callable[[str, int], Awaitable[Sequence[str]]]
    context: ssl.SSLContext | None


async def exchange(
    destination: Destination, request: h11.Request, body: bytes, *, max_bytes: int, seconds: float
) -> HttpAnswer:
    """Sends a request over a new connection; returns the response with at most `max_bytes` of its
    body.

    Resolving, connection, TLS, head and body together take at most `seconds`. No redirect is
    followed and no proxy is used. Raises Failed.
    """
    deadline = _now() + seconds
    with _failures(seconds):
        async with _connected(destination, deadline) as (reader, writer):
            async with asyncio.timeout_at(deadline):
                received = _send(request, body, reader, writer)
                answer = await _answer(received, max_bytes)
            await _read_rest(received, deadline)
            return answer


async def certificate(destination: Destination, *, seconds: float) -> Mapping[str, object]:
    """Returns the certificate that a server presents, in the form of `ssl.SSLSocket.getpeercert`.

    Everything together takes at most `seconds`. Raises Failed, also if the context does not trust
    the certificate, or it is for another name.
    """
    with _failures(seconds):
        async with _connected(destination, _now() + seconds) as (_, writer):
            found: Mapping[str, object] = writer.get_extra_info("peercert")
            return found


def _now() -> float:
    return asyncio.get_running_loop().time()


@contextmanager
def _failures(seconds: float) -> Iterator[None]:
    """Raises the errors of the block as Failed."""
    try:
        yield
    except TimeoutError:
        raise TimedOut(seconds) from None
    except h11.ProtocolError as error:
        # After the colon, h11 repeats the data that the other server sent.
        raise Failed(f"the answer is not HTTP/1.1: {str(error).partition(':')[0]}") from None
    except (OSError, UnicodeError) as error:
        raise Failed(f"{type(error).__name__}: {error}") from error


@asynccontextmanager
async def _connected(
    destination: Destination, deadline: float
) -> AsyncIterator[tuple[StreamReader, StreamWriter]]:
    """Within the block, there is a connection to the first address of the host that listens."""
    async with asyncio.timeout_at(deadline):
        addresses = await destination.addresses(destination.host, destination.port)
    # The deadline again: a look-up may lose a cancellation that comes together with its result.
    async with asyncio.timeout_at(deadline):
        reader, writer = await _connect(destination, addresses)
    try:
        yield reader, writer
    finally:
        writer.close()


async def _connect(
    destination: Destination, addresses: Sequence[str]
) -> tuple[StreamReader, StreamWriter]:
    tls: dict[str, Any] = {
        "server_hostname": destination.host,
        "ssl_shutdown_timeout": _SHUTDOWN_SECONDS,
    }
    error = OSError(f"{destination.host} has no address")
    for address in addresses:
        try:
            return await asyncio.open_connection(
                address,
                destination.port,
                ssl=destination.context,
                **(tls if destination.context else {}),
            )
        except OSError as refusal:
            error = refusal
    raise error


class _Received:
    """What a connection receives. The head with all provisional answers, the extensions of chunks
    and the trailers have MAX_FRAMING_BYTES together. `is_over` says that the answer has ended."""

    def __init__(self, reader: StreamReader, connection: h11.Connection) -> None:
        self._reader = reader
        self._connection = connection
        self._allowed = MAX_FRAMING_BYTES
        self.is_over = False

    async def next(self) -> Any:
        """Returns the next event of h11. Raises Failed, h11.RemoteProtocolError, OSError."""
        while (event := self._connection.next_event()) is h11.NEED_DATA:
            if self._allowed < 0:
                raise Failed("the answer has too many header or trailer fields")
            data = await self._reader.read(self._allowed + 1)
            if not data and self._connection.their_state is h11.SEND_RESPONSE:
                raise Failed("the connection was closed without an answer")
            self._allowed -= len(data)
            self._connection.receive_data(data)
        if isinstance(event, h11.Data):
            self._allowed += len(event.data) * (1 + _LARGEST_FRAMING)
        self.is_over = isinstance(event, h11.EndOfMessage)
        return event


def _send(
    request: h11.Request, body: bytes, reader: StreamReader, writer: StreamWriter
) -> _Received:
    connection = h11.Connection(h11.CLIENT)
    for event in (request, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    return _Received(reader, connection)


async def _answer(received: _Received, max_bytes: int) -> HttpAnswer:
    status, body = 0, bytearray()
    while not received.is_over and not (status and len(body) >= max_bytes):
        event = await received.next()
        if isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            body += event.data
    return HttpAnswer(status, bytes(body[:max_bytes]))


async def _read_rest(received: _Received, deadline: float) -> None:
    """Reads some of the rest, so that the other side is not cut off while it sends."""
    unread = 0
    with suppress(Failed, h11.ProtocolError, OSError):
        async with asyncio.timeout_at(min(deadline, _now() + _UNREAD_SECONDS)):
            while not received.is_over and unread < MAX_UNREAD_BYTES:
                event = await received.next()
                unread += len(event.data) if isinstance(event, h11.Data) else 0
