"""Requests as exact bytes, which no HTTP client would send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx

FORM = "application/x-www-form-urlencoded"


async def exchange(server, data: bytes) -> httpx.Response:
    """Sends `data` on a new connection; returns the response, read until the server closes it."""
    address = urlsplit(server.issuer)
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = [tuple(line.split(": ", 1)) for line in lines]
    return httpx.Response(int(status.split()[1]), headers=headers, content=body)


async def get(server, target: bytes, *headers: str) -> httpx.Response:
    """Sends a GET with this unchanged request target."""
    head = [f"Host: {urlsplit(server.issuer).netloc}", "Connection: close", *headers]
    lines = "".join(f"{line}\r\n" for line in head).encode("latin-1")
    return await exchange(server, b"GET " + target + b" HTTP/1.1\r\n" + lines + b"\r\n")


def head(server, method: str, target: str, *lines: str) -> bytes:
    """The head of a request with these header lines."""
    host = f"Host: {urlsplit(server.issuer).netloc}"
    return "\r\n".join([f"{method} {target} HTTP/1.1", host, *lines, "", ""]).encode()


@asynccontextmanager
async def opened(
    server, data: bytes
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection on which `data` was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.issuer).port)
    writer.write(data)
    try:
        yield reader, writer
    finally:
        writer.close()
        await writer.wait_closed()
