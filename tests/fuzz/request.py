"""A request as octets that can be taken apart and put together wrongly, and its answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import quote_from_bytes

import msgspec

Pair = tuple[bytes, bytes]

FORM: Final = b"application/x-www-form-urlencoded"
_LONGEST_HEAD: Final = 64 * 1024 - 4
_BREAKS_A_LINE: Final = re.compile(rb"[\x00-\x20\x7f]")


def encoded(value: str | bytes) -> bytes:
    """Percent-encoded, so that it arrives as it is."""
    octets = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return quote_from_bytes(octets, safe="").encode()


def pairs(values: Mapping[str, str]) -> tuple[Pair, ...]:
    return tuple((encoded(name), encoded(value)) for name, value in values.items())


@dataclass(frozen=True)
class Request:
    """Names and values of `query` and `form` are as they go over the wire. `body` replaces the
    form; `is_broken` says that it need not be an HTTP request at all."""

    kind: str
    method: bytes
    path: bytes
    query: tuple[Pair, ...] = ()
    form: tuple[Pair, ...] | None = None
    headers: tuple[Pair, ...] = ()
    body: bytes | None = None
    is_broken: bool = False

    def changed(self, **changes) -> Request:
        return replace(self, **changes)

    def with_header(self, name: bytes, value: bytes) -> Request:
        """With this header alone of its name."""
        others = self.without_header(name).headers
        return self.changed(headers=(*others, (name, value)))

    def without_header(self, name: bytes) -> Request:
        others = tuple(pair for pair in self.headers if pair[0].lower() != name.lower())
        return self.changed(headers=others)

    def octets(self, host: bytes) -> bytes:
        body = self.body
        if body is None and self.form is not None:
            body = _joined(self.form)
        target = self.path + (b"?" + _joined(self.query) if self.query else b"")
        target = _BREAKS_A_LINE.sub(lambda found: b"%%%02X" % found[0][0], target)
        headers, known = list(self.headers), {name.lower() for name, _ in self.headers}
        if b"host" not in known:
            headers.insert(0, (b"Host", host))
        if self.form is not None and b"content-type" not in known:
            headers.append((b"Content-Type", FORM))
        if body is not None and not {b"content-length", b"transfer-encoding"} & known:
            headers.append((b"Content-Length", b"%d" % len(body)))
        lines = [b"%s %s HTTP/1.1" % (self.method, target)]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join([*lines, b"", body or b""])


def _joined(values: tuple[Pair, ...]) -> bytes:
    return b"&".join(name + b"=" + value for name, value in values)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def get(self, name: str) -> str:
        """The values of a header, joined."""
        return ", ".join(self.all(name))

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def json(self):
        return msgspec.json.decode(self.body)

    @property
    def error(self) -> str:
        """The error code of a refusal in JSON, or nothing."""
        if self.status < 400 or not self.body or "json" not in self.get("Content-Type"):
            return ""
        return self.json().get("error", "")


class Connection:
    """One connection, kept open for as long as the server keeps it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, request: Request, host: bytes) -> Answer | None:
        """The answer; None when the server hung up on what is no HTTP, or has too long a head."""
        octets = request.octets(host)
        is_broken = request.is_broken or octets.index(b"\r\n\r\n") > _LONGEST_HEAD
        if self._streams is None or self._streams[0].at_eof() or is_broken:
            await self.close()
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=2**20)
        reader, writer = self._streams
        writer.write(octets)
        if is_broken:
            writer.write_eof()
        try:
            answer = await _read(reader, has_body=request.method != b"HEAD")
        except (asyncio.IncompleteReadError, ConnectionError):
            await self.close()
            if is_broken:
                return None
            raise
        if is_broken or not answer.headers or answer.get("Connection") == "close":
            await self.close()
        return answer

    async def close(self) -> None:
        if self._streams is not None:
            writer = self._streams[1]
            self._streams = None
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def _read(reader: asyncio.StreamReader, *, has_body: bool) -> Answer:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    status = int(first.split(" ")[1])
    headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
    if status < 200:
        return await _read(reader, has_body=has_body)
    answer = Answer(status, headers)
    if not has_body or status in (204, 304) or not headers:
        return answer
    return Answer(status, headers, await reader.readexactly(int(answer.get("Content-Length"))))
