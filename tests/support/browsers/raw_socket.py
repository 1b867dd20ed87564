"""Clients that read a response slowly or not at all, and observe how a connection ends."""

from __future__ import annotations

import asyncio
import socket

from tests.support import patience


def unread(port, raw, size=64 * 1024):
    """A connection with a small buffer, whose client has sent `raw` and reads nothing."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    client.connect(("127.0.0.1", port))
    client.sendall(raw)
    client.setblocking(False)
    return client


async def received(client, end=None):
    """The data that arrives up to the bytes `end` or the end of the connection, and whether the
    connection was reset."""
    loop, data = asyncio.get_running_loop(), bytearray()
    async with asyncio.timeout(patience.SECONDS):
        while end is None or end not in data[-len(end) - 65536 :]:
            try:
                part = await loop.sock_recv(client, 65536)
            except ConnectionResetError:
                return bytes(data), True
            if not part:
                break
            data += part
    return bytes(data), False
