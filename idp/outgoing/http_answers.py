"""Answers of HTTP/1.1 (RFC 9112) as `idp/outgoing/http.py` reads them: a status, and some of a
body.

Everything has a bound: lines, the head, chunk extensions, trailers, and how much of a body is
read. Whoever calls bounds the time. What breaks the framing raises Unreadable; EOFError is an
answer that was cut off, LimitOverrunError a line without an end.
"""

from __future__ import annotations

import asyncio
import re
from typing import Final

from msgspec import Struct

MAX_HEAD_BYTES: Final = 64 * 1024  # provisional answers included
MAX_BODY_BYTES: Final = 8 * 1024  # of a longer body, the first
MAX_TRAILER_BYTES: Final = 8 * 1024
MAX_EXTENSION_BYTES: Final = 8 * 1024  # of all chunks together
_STATUS: Final = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: [^\r\n]*)?\r?\n")
_FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*?)[ \t]*\r?\n")
_LENGTH: Final = re.compile(rb"[0-9]{1,15}")
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;[^\r\n]*)?\r\n")
_FRAMING: Final = (b"transfer-encoding", b"content-length")
_WITHOUT_BODY: Final = (204, 304)


class Unreadable(Exception):
    """The answer is not HTTP/1.1, or breaks one of the bounds."""


class Head(Struct, frozen=True):
    """The status, and what says how long the body is."""

    status: int
    is_old: bool
    encodings: list[bytes]
    lengths: list[bytes]


async def head(reader: asyncio.StreamReader) -> Head:
    """The head of the first answer that is not a provisional one."""
    lines = _Lines(reader, MAX_HEAD_BYTES)
    while True:
        found = _STATUS.fullmatch(await lines.next())
        if found is None:
            raise Unreadable("the answer is not HTTP")
        fields: dict[bytes, list[bytes]] = {name: [] for name in _FRAMING}
        while (line := await lines.next()).strip():
            field = _FIELD.fullmatch(line)
            if field and field[1].lower() in fields:
                fields[field[1].lower()].append(field[2])
        if int(found[2]) >= 200:
            return Head(int(found[2]), found[1] == b"0", *fields.values())


async def body(reader: asyncio.StreamReader, head: Head) -> bytes:
    """The body behind a head, or its first MAX_BODY_BYTES."""
    if head.status in _WITHOUT_BODY:
        return b""
    if head.encodings:
        if head.is_old or [each.lower() for each in head.encodings] != [b"chunked"]:
            raise Unreadable("the answer has another transfer encoding than chunked")
        return await _chunked(reader)
    if head.lengths:
        lengths = {each.strip() for line in head.lengths for each in line.split(b",")}
        if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
            raise Unreadable("the length of the answer is not one number")
        return await reader.readexactly(min(int(lengths.pop()), MAX_BODY_BYTES))
    return await _to_the_end(reader)


async def _to_the_end(reader: asyncio.StreamReader) -> bytes:
    read = bytearray()
    while len(read) < MAX_BODY_BYTES and (more := await reader.read(MAX_BODY_BYTES - len(read))):
        read += more
    return bytes(read)


async def _chunked(reader: asyncio.StreamReader) -> bytes:
    """RFC 9112 7.1. Extensions and trailers are passed over."""
    read, extensions = bytearray(), 0
    while True:
        found = _CHUNK.fullmatch(await reader.readuntil(b"\n"))
        if found is None:
            raise Unreadable("the size of a chunk is not one")
        extensions += len(found[2] or b"")
        if extensions > MAX_EXTENSION_BYTES:
            raise Unreadable("the chunks have too many extensions")
        size = int(found[1], 16)
        if size == 0:
            await _pass_trailers(reader)
            return bytes(read)
        room = MAX_BODY_BYTES - len(read)
        read += await reader.readexactly(min(size, room))
        if size >= room:
            return bytes(read)
        if await reader.readexactly(2) != b"\r\n":
            raise Unreadable("a chunk is longer than its size")


async def _pass_trailers(reader: asyncio.StreamReader) -> None:
    lines = _Lines(reader, MAX_TRAILER_BYTES)
    while (await lines.next()).strip():
        pass


class _Lines:
    """Lines of which all together have a bound."""

    def __init__(self, reader: asyncio.StreamReader, most: int) -> None:
        self._reader = reader
        self._left = most

    async def next(self) -> bytes:
        """The next line with its end."""
        line = await self._reader.readuntil(b"\n")
        self._left -= len(line)
        if self._left < 0:
            raise Unreadable("the answer has too many header or trailer fields")
        return line
