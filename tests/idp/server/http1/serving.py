"""A server of its own for tests of connections, and clients that write to raw sockets."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field

import pytest
from tornado.iostream import StreamClosedError
from tornado.web import Application, RequestHandler, stream_request_body

from idp.config.settings import Config
from idp.server.http1 import client_stream
from idp.server.http_server import BoundedServer
from tests.support import patience

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW")


@dataclass
class Seen:
    """What the handlers have seen: requests read, clients gone, and what they wait for."""

    read: list[tuple[str, str, bytes]] = field(default_factory=list)
    fields: list[list[tuple[str, str]]] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    written: int = 0


class Base(RequestHandler):
    SUPPORTED_METHODS = METHODS

    def initialize(self, seen):
        self.seen = seen
        self.pieces = []

    def data_received(self, chunk):
        self.pieces.append(chunk)
        self.seen.pieces.append(len(chunk))

    def on_connection_close(self):
        super().on_connection_close()
        self.seen.left.set()

    def note(self):
        request = self.request
        self.seen.read.append((request.method, request.uri, b"".join(self.pieces)))
        self.seen.fields.append(list(request.headers.get_all()))


@stream_request_body
class Echo(Base):
    """Answers with what was read: the number of the request, and its body."""

    def answer(self):
        self.note()
        self.finish(b"%d:%b" % (len(self.seen.read), b"".join(self.pieces)))

    get = head = post = put = patch = delete = options = brew = answer


@stream_request_body
class Late(Base):
    """Answers when it may; its body has to wait, too, if `prepare` does."""

    async def prepare(self):
        self.seen.begun.set()
        if self.get_query_argument("prepares", ""):
            await self.seen.goes_on.wait()

    async def get(self):
        await self.seen.goes_on.wait()
        self.note()
        self.finish(b"late")

    post = get


@stream_request_body
class Counting(Base):
    """Counts a body of any length."""

    def prepare(self):
        self.request.connection.set_max_body_size(2**63)
        self.length = 0

    def data_received(self, chunk):
        self.length += len(chunk)

    def post(self):
        self.finish(str(self.length))


@stream_request_body
class Careful(Counting):
    """Takes one piece of a body at a time, when it may."""

    def data_received(self, chunk):
        super().data_received(chunk)
        self.seen.pieces.append(len(chunk))
        return self.seen.goes_on.wait()


@stream_request_body
class Streaming(Base):
    """Sends pieces of 16 KiB, each when there is room for it."""

    async def get(self):
        for _ in range(int(self.get_query_argument("pieces"))):
            self.write(bytes(16 * 1024))
            try:
                await self.flush()
            except StreamClosedError:
                return
            self.seen.written += 1


@stream_request_body
class Early(Base):
    """Answers before the body is read."""

    def prepare(self):
        self.set_status(403)
        self.finish(b"no")


@stream_request_body
class Cut(Base):
    """Sends a part of its answer, and ends the connection when it may."""

    async def get(self):
        if length := self.get_query_argument("length", ""):
            self.set_header("Content-Length", length)
        self.write(b"part")
        await self.flush()
        await self.seen.goes_on.wait()
        self.request.connection.close()

    head = get


@stream_request_body
class Parts(Base):
    """Sends its answer in two parts, the second one when it may."""

    async def get(self):
        self.write(b"one ")
        await self.flush()
        self.seen.begun.set()
        await self.seen.goes_on.wait()
        self.finish(b"two")


class Large(Base):
    """Answers with more than the kernel takes for a client that does not read."""

    def get(self):
        self.finish(bytes(4_000_000))


class Bare(Base):
    """Answers without a body."""

    def get(self, status):
        self.set_status(int(status))


def application(seen: Seen) -> Application:
    more = {"seen": seen}
    routes = [
        ("/late", Late, more),
        ("/count", Counting, more),
        ("/careful", Careful, more),
        ("/streaming", Streaming, more),
        ("/early", Early, more),
        ("/cut", Cut, more),
        ("/parts", Parts, more),
        ("/large", Large, more),
        ("/bare/([0-9]+)", Bare, more),
        (".*", Echo, more),
    ]
    return Application(routes, log_function=lambda _: None)


@dataclass
class Served:
    """A running server, its port, and what its handlers have seen."""

    server: BoundedServer
    port: int
    seen: Seen

    @asynccontextmanager
    async def client(self, **more) -> AsyncIterator[Client]:
        """A connection to it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, **more)
        try:
            yield Client(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def answers(self, raw: bytes) -> bytes:
        """All that is answered to these bytes, of which nothing follows."""
        with waiting_for_answers():
            return await self._answers(raw)

    async def _answers(self, raw: bytes) -> bytes:
        async with self.client() as client:
            client.send(raw)
            client.end()
            return await client.rest()


@contextmanager
def waiting_for_answers() -> Iterator[None]:
    """A client that sends no more is waited for however slow the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client_stream, "HALF_CLOSED_SECONDS", patience.SECONDS)
        yield


@asynccontextmanager
async def served(tls=None, **settings) -> AsyncIterator[Served]:
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)
    seen = Seen()
    server = BoundedServer(application(seen), Config(**settings), tls, lambda: None)
    server.listen_on(listening)
    try:
        yield Served(server, listening.getsockname()[1], seen)
    finally:
        server.stop()
        await server.close_all_connections()


@dataclass
class Answer:
    """A response as it was read."""

    status: int
    fields: dict[str, str]
    body: bytes


@dataclass
class Client:
    """One end of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    def end(self) -> None:
        """Send nothing more."""
        self.writer.write_eof()

    def reset(self) -> None:
        """Leave at once, whatever was not sent or read."""
        linger = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, linger
        )
        self.writer.transport.abort()

    async def head(self) -> Answer:
        async with asyncio.timeout(patience.SECONDS):
            raw = await self.reader.readuntil(b"\r\n\r\n")
        line, *lines = raw.decode().removesuffix("\r\n\r\n").split("\r\n")
        pairs = (each.split(": ", 1) for each in lines)
        return Answer(int(line.split(" ")[1]), {name.lower(): text for name, text in pairs}, b"")

    async def answer(self, *, is_bare: bool = False) -> Answer:
        """The next response; `is_bare` if it has no body, whatever it says."""
        answer = await self.head()
        if not is_bare:
            answer.body = await self._body(answer.fields)
        return answer

    async def _body(self, fields: dict[str, str]) -> bytes:
        async with asyncio.timeout(patience.SECONDS):
            if "content-length" in fields:
                return await self.reader.readexactly(int(fields["content-length"]))
            if fields.get("transfer-encoding") != "chunked":
                return b""
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
            return body

    async def rest(self) -> bytes:
        """All that comes until the server ends the connection."""
        async with asyncio.timeout(patience.SECONDS):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""


async def until_end_of_body(reader: asyncio.StreamReader) -> None:
    """Read a body in chunks to its end."""
    end = b""
    async with asyncio.timeout(patience.SECONDS):
        while not end.endswith(b"0\r\n\r\n"):
            end = end[-4:] + await reader.read(65536)


def request(method: str = "GET", target: str = "/", *fields: str, body: bytes = b"") -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *fields]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def chunks(*pieces: bytes) -> bytes:
    """A body in chunks, with its last one."""
    return b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in (*pieces, b""))
