"""A TCP proxy before one MongoDB server that drops the answers to chosen commands."""

from __future__ import annotations

import asyncio
import struct
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

_HEADER = struct.Struct("<iiii")  # length, request id, response to, operation
_OP_MSG = 2013
_NAME_AT = 26  # header, flags, section kind, document length, type of the first element


class _Swallowed(Exception):
    """The answer that has just arrived is to be lost, and its connection with it."""


class LossyProxy:
    """Passes everything on, but the answers to the next `lost[command]` commands of a name.

    Such a command reaches the server and is done; its connection ends instead of answering.
    """

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self.lost: Counter[str] = Counter()
        self.swallowed = 0
        self.port = 0
        self._connections: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[LossyProxy]:
        listening = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = listening.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            listening.close()
            for connection in self._connections:
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with _closing(writer):
            upstream, to_server = await asyncio.open_connection(*self._server)
            async with _closing(to_server):
                doomed: set[int] = set()
                await self._first_end(
                    self._requests(reader, to_server, doomed),
                    self._answers(upstream, writer, doomed),
                )

    async def _first_end(self, *directions: Coroutine[Any, Any, None]) -> None:
        """Forwards data in both directions until one of them ends."""
        pumps = [asyncio.create_task(direction) for direction in directions]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            ends = await asyncio.gather(*pumps, return_exceptions=True)
            self.swallowed += sum(isinstance(end, _Swallowed) for end in ends)

    async def _requests(
        self, reader: asyncio.StreamReader, to_server: asyncio.StreamWriter, doomed: set[int]
    ) -> None:
        while True:
            message = await read_message(reader)
            _, request_id, _, operation = _HEADER.unpack_from(message)
            if operation == _OP_MSG:
                name = message[_NAME_AT : message.index(b"\0", _NAME_AT)].decode()
                if self.lost[name] > 0:
                    self.lost[name] -= 1
                    doomed.add(request_id)
            to_server.write(message)
            await to_server.drain()

    async def _answers(
        self, upstream: asyncio.StreamReader, writer: asyncio.StreamWriter, doomed: set[int]
    ) -> None:
        while True:
            message = await read_message(upstream)
            if _HEADER.unpack_from(message)[2] in doomed:
                raise _Swallowed
            writer.write(message)
            await writer.drain()


@asynccontextmanager
async def _closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    try:
        yield
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def read_message(reader: asyncio.StreamReader) -> bytes:
    header = await reader.readexactly(_HEADER.size)
    return header + await reader.readexactly(_HEADER.unpack(header)[0] - _HEADER.size)
