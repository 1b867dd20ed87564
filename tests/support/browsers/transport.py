"""HTTP/1.1 of a test's browser to a service on loopback, in a third of the time of httpx.

It is strict: a response that is malformed by RFC 9112, or shorter than declared, is an error.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import Final

import httpx

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]

MOST: Final = 2**20  # octets of a head
STATUS: Final = re.compile(rb"HTTP/1\.1 ([1-5][0-9][0-9]) [\t\x20-\x7e]*")
FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*")
WITHOUT_BODY: Final = (204, 304)


class Loopback(httpx.AsyncBaseTransport):
    """A transport that keeps connections open and reuses them, as a browser does."""

    def __init__(self) -> None:
        self._idle: dict[int, list[Connection]] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        data = await _encoded(request)
        patience = request.extensions.get("timeout", {}).get("read")
        try:
            async with asyncio.timeout(patience):
                return await self._exchange(request, data)
        except TimeoutError as error:
            raise httpx.ReadTimeout("no answer in time", request=request) from error
        except asyncio.IncompleteReadError as error:
            raise httpx.RemoteProtocolError("the answer is cut off", request=request) from error
        except OSError as error:
            raise httpx.ReadError(str(error), request=request) from error

    async def aclose(self) -> None:
        for idle in self._idle.values():
            while idle:
                await _close(idle.pop())

    async def _exchange(self, request: httpx.Request, data: bytes) -> httpx.Response:
        port = request.url.port or 80
        connection = reader, writer = await self._connection(port)
        is_kept = False
        try:
            writer.write(data)
            with suppress(ConnectionError):  # a long body may be refused before its end
                await writer.drain()
            status, fields = await _head(reader)
            body = await _body(reader, request, status, fields)
            is_kept = fields.get("connection", "").lower() != "close" and not reader.at_eof()
        finally:
            if is_kept:
                self._idle[port].append(connection)
            else:
                writer.close()
        return httpx.Response(status, headers=fields, stream=httpx.ByteStream(body))

    async def _connection(self, port: int) -> Connection:
        idle = self._idle.setdefault(port, [])
        while idle:
            connection = idle.pop()
            if not connection[0].at_eof():
                return connection
            await _close(connection)
        try:
            return await asyncio.open_connection("127.0.0.1", port, limit=MOST)
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error


async def _close(connection: Connection) -> None:
    connection[1].close()
    try:
        await connection[1].wait_closed()
    except ConnectionError:
        return  # the other side was first


async def _encoded(request: httpx.Request) -> bytes:
    target = b" ".join((request.method.encode(), request.url.raw_path, b"HTTP/1.1"))
    body = await request.aread()
    if "Transfer-Encoding" in request.headers:
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    fields = [b": ".join(field) for field in request.headers.raw]
    return b"\r\n".join((target, *fields, b"", body))


async def _head(reader: asyncio.StreamReader) -> tuple[int, httpx.Headers]:
    """The status and the header fields of the final response, after informational ones."""
    status = 100
    while status < 200:
        first, *lines = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
        found, fields = STATUS.fullmatch(first), [FIELD.fullmatch(line) for line in lines]
        if not found or None in fields:
            raise httpx.RemoteProtocolError(f"no HTTP/1.1: {first!r}, {lines}")
        status = int(found[1])
    return status, httpx.Headers([field.groups() for field in fields if field])


async def _body(
    reader: asyncio.StreamReader, request: httpx.Request, status: int, fields: httpx.Headers
) -> bytes:
    if request.method == "HEAD" or status in WITHOUT_BODY:
        return b""
    if fields.get("transfer-encoding", "").lower() == "chunked":
        return b"".join([chunk async for chunk in _chunks(reader)])
    if "content-length" not in fields:
        return await reader.read()  # it ends with the connection
    if not fields["content-length"].isdecimal():
        raise httpx.RemoteProtocolError(f"how long is the answer? {fields}")
    return await reader.readexactly(int(fields["content-length"]))


async def _chunks(reader: asyncio.StreamReader):
    size = -1
    while size:
        size = int((await reader.readuntil(b"\r\n"))[:-2], 16)
        chunk = await reader.readexactly(size + 2)
        if chunk[size:] != b"\r\n":
            raise httpx.RemoteProtocolError("a chunk is longer than it says")
        yield chunk[:size]
