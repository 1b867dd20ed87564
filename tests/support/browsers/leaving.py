"""A caller that disconnects before the answer."""

from __future__ import annotations

import asyncio
import json


async def calling(server, owner, path, body):
    """The connection of a caller that has sent a call and has no answer yet; to close it is to
    disconnect."""
    encoded = json.dumps(body).encode()
    _, writer = await asyncio.open_connection("127.0.0.1", server.service.config.port)
    writer.write(
        f"POST {path} HTTP/1.1\r\nHost: {server.issuer.partition('//')[2]}\r\n"
        f"Authorization: Bearer {owner.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(encoded)}\r\n\r\n".encode()
        + encoded
    )
    return writer
