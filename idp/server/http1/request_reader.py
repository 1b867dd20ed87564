"""Reads requests from the bytes of a connection. llhttp parses them, without its lenient modes.
Requests that it accepts but that a proxy in front may read differently are refused here.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final, NamedTuple

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from handlers.http.header_fields import HeaderFields
from idp.server.http1.refusal import Refused, malformed

MAX_FIELDS: Final = 128
MAX_LINE_BYTES: Final = 64 * 1024
MAX_LENGTH_DIGITS: Final = 19  # as many as 64 bits hold
MAX_CHUNK_OVERHEAD: Final = 16 * 1024  # and a quarter of the body's length

_END: Final = b"\r\n\r\n"
# Single spaces and only these versions (RFC 9112 3): llhttp accepts more.
_LINE: Final = re.compile(
    rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e\x80-\xff]+) HTTP/1\.([01])\r\n"
)
_ABSOLUTE: Final = re.compile(rb"(?i:https?)://([^/?]*)(.*)")
_HOST: Final = re.compile(r"(?:[\[\]:A-Za-z0-9\-._~!$&'()*+;=]|%[0-9A-Fa-f]{2})*")
_LONE_LF: Final = re.compile(rb"(?<!\r)\n")
_BEGINNING: Final = re.compile(rb"\r?\Z|[!#$%&'*+\-.^_`|~0-9A-Za-z]")
_UPGRADE: Final = re.compile(rb"(?i)\r\nupgrade:")
# The line before a chunk that is not the last one (RFC 9112 7.1), and the beginning of any.
_CHUNK_LINE: Final = re.compile(rb"(0*[1-9A-Fa-f][0-9A-Fa-f]*)(?:;[^\r\n]*)?\r\n")
_CHUNK_BEGINNING: Final = re.compile(rb"[0-9A-Fa-f]*(?:;[^\r\n]*)?\r?\Z")

# llhttp treats none of these methods specially.
_PLAIN_METHODS: Final = frozenset((b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE"))


class RequestHead(NamedTuple):
    """A request without its body. `target` is in origin form, or `*`; `length` is that of the
    body in bytes, None if it is chunked. `is_persistent` is whether the client requests that the
    connection stays open; `size` is the length of the head in bytes."""

    method: str
    target: str
    version: str
    headers: HeaderFields
    host: str
    length: int | None
    is_persistent: bool
    size: int

    @property
    def expects_continue(self) -> bool:
        """Whether the client waits for a 100 (Continue) before it sends the body (RFC 9110
        10.1.1)."""
        is_http_11 = self.version == "HTTP/1.1"
        return is_http_11 and self.headers.get("Expect", "").lower() == "100-continue"


def unread_head(refusal: Refused) -> RequestHead:
    """Returns the head of a refused request, of which only method and target are known."""
    headers = HeaderFields()
    return RequestHead(refusal.method, refusal.target, "HTTP/1.1", headers, "", 0, False, 0)


class RequestReader:
    """Reads the requests of one connection, one after the other.

    `receive` takes bytes as they arrive, `next_head` returns the head of the next request when it
    is complete, and `next_body` returns the data of its body that has arrived, until `is_complete`
    is true. After a refusal nothing more can be read.
    """

    def __init__(self, max_head_bytes: int) -> None:
        self.is_complete = True
        self._max_head_bytes = max_head_bytes
        self._received = bytearray()
        self._searched = 0  # how many bytes of it have no end of a head
        self._parser = HttpRequestParser(self)
        self._begin()

    def _begin(self) -> None:
        self._fields: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._has_head = False
        self._remaining_bytes: int | None = (
            0  # bytes of the body that have not arrived; None: chunks
        )
        self._parsed_bytes = self._body_bytes = 0
        self._chunk_remaining_bytes = (
            0  # bytes of the current chunk, with its line end, not parsed yet
        )
        self._is_last = False  # the last chunk has begun

    @property
    def buffered(self) -> int:
        """How many bytes have been received and not been read yet."""
        return len(self._received)

    def receive(self, data: bytes) -> None:
        """Appends bytes that have arrived to those that are not read yet."""
        self._received += data

    def end(self) -> None:
        """Discards all bytes that have been received; nothing may be read after it."""
        self._received.clear()
        del self._parser  # it refers to this reader

    # Callbacks of llhttp.

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:  # trailers are ignored (RFC 9112 7.1.2)
            self._fields.append((name, value.strip(b" \t")))

    def on_headers_complete(self) -> None:
        self._has_head = True
        self._is_persistent = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)
        self._body_bytes += len(body)

    def on_message_complete(self) -> None:
        self.is_complete = True

    # The head.

    def next_head(self) -> RequestHead | None:
        """Returns the head of the next request; None while it is incomplete. Raises Refused."""
        received = self._received
        while received.startswith(b"\r\n"):  # RFC 9112 2.2
            del received[:2]
            self._searched = 0
        end = received.find(_END, self._searched)
        if end < 0:
            self._check_beginning()
            return None
        head = bytes(received[: end + 4])
        del received[: end + 4]
        self._searched = 0
        if len(head) > self._max_head_bytes:
            raise _too_long(head)
        return self._read(head)

    def _check_beginning(self) -> None:
        """Checks the beginning of a head that is incomplete. Raises Refused as soon as it can't
        become a valid head, because the client may wait for a response before it sends more."""
        received = self._received
        if len(received) > self._max_head_bytes:
            raise _too_long(received)
        if received and not _BEGINNING.match(received):
            raise malformed("no method")
        if _LONE_LF.search(received, self._searched):
            raise malformed("a line without CR LF")
        self._searched = max(0, len(received) - 3)

    def _read(self, head: bytes) -> RequestHead:
        line = _LINE.match(head)
        if line is None:
            raise malformed("malformed request line, or another version of HTTP")
        if line.end() > MAX_LINE_BYTES:
            raise _too_long(b"")
        try:
            return self._read_fields(head, *line.groups())
        except Refused as refusal:
            refusal.method, refusal.target = line[1].decode(), line[2].decode("latin-1")
            raise

    def _read_fields(self, head: bytes, method: bytes, target: bytes, minor: bytes) -> RequestHead:
        self._begin()
        self.is_complete = False
        size = len(head)
        if not (method in _PLAIN_METHODS and target.isascii()):
            # The handlers refuse these with the right error; llhttp would refuse the whole head.
            head = b"POST / " + head[len(method) + len(target) + 2 :]
        self._feed_head(head)
        if len(self._fields) > MAX_FIELDS:
            raise Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "too many header fields")
        headers = HeaderFields(self._fields)
        host = _host(headers, minor)
        self._remaining_bytes = _length(headers, minor)
        return RequestHead(
            method.decode(),
            _origin_form(method, target, host).decode("latin-1"),
            "HTTP/1.1" if minor == b"1" else "HTTP/1.0",
            headers,
            host,
            self._remaining_bytes,
            self._is_persistent,
            size,
        )

    def _feed_head(self, head: bytes) -> None:
        try:
            self._feed(head)
        except HttpParserUpgrade:
            # The client requests another protocol. The service has none and ignores that (RFC 9110
            # 7.8), but llhttp would not read the body of such a request.
            self._begin()
            self.is_complete = False
            self._parser = HttpRequestParser(self)
            self._feed(_UPGRADE.sub(b"\r\nIgnored-Upgrade:", head))
        if not self._has_head:
            raise malformed("the head is incomplete")

    # The body.

    def next_body(self) -> bytes:
        """Returns the data of the body that has arrived since the last call, which may be empty.
        Raises Refused."""
        if self._remaining_bytes is None:
            self._read_chunks()
        elif self._received:
            self._read_length()
        pieces, self._pieces = self._pieces, []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _read_length(self) -> None:
        received, remaining_bytes = self._received, self._remaining_bytes or 0
        if len(received) <= remaining_bytes:
            self._remaining_bytes = remaining_bytes - len(received)
            self._feed(received)
            received.clear()
        else:
            self._remaining_bytes = 0
            self._feed(received[:remaining_bytes])
            del received[:remaining_bytes]

    def _read_chunks(self) -> None:
        """Reads the chunks that have arrived, but nothing of the next request."""
        received = self._received
        while not self.is_complete and (size := self._chunk_bytes()):
            self._feed(received[:size])
            del received[:size]
            self._parsed_bytes += size
            # Otherwise tiny chunks, long extensions and trailers could take processor time.
            if self._parsed_bytes - self._body_bytes > MAX_CHUNK_OVERHEAD + self._body_bytes // 4:
                raise malformed("chunks with too little data")

    def _chunk_bytes(self) -> int:
        """Returns how many of the received bytes can be parsed now because they are not of the
        next request; 0 if more must arrive first. Raises Refused.

        The sizes of the chunks are followed, because the data of a chunk may contain the same
        bytes as the end of the last one. Many chunks are parsed in one call.
        """
        received, end = self._received, self._chunk_remaining_bytes
        search_end = min(len(received), MAX_CHUNK_OVERHEAD)
        while (
            end < search_end and not self._is_last and (line := _CHUNK_LINE.match(received, end))
        ):
            end = line.end() + int(line[1], 16) + 2
        size = min(end, len(received))
        self._chunk_remaining_bytes = end - size
        return size or self._last_chunk_bytes()

    def _last_chunk_bytes(self) -> int:
        """Returns how many of the received bytes belong to the last chunk and its trailers, which
        end with an empty line, as a head does. Of a malformed chunk too, so that llhttp refuses
        it."""
        received = self._received
        if not self._is_last and _CHUNK_BEGINNING.match(received):
            if len(received) > MAX_CHUNK_OVERHEAD:
                raise malformed("a long chunk extension")
            return 0
        self._is_last = True
        end = received.find(_END)
        return end + 4 if end >= 0 else len(received) - _incomplete_end(received)

    def _feed(self, data: bytes | bytearray) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            raise malformed(str(error)) from None


def _incomplete_end(received: bytearray) -> int:
    """Returns how many of the last bytes may be the beginning of the empty line that ends a
    body."""
    return next(size for size in (3, 2, 1, 0) if received.endswith(_END[:size]))


def _too_long(head: bytes | bytearray) -> Refused:
    if b"\n" in head[:MAX_LINE_BYTES]:
        return Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the head is too long")
    return Refused(HTTPStatus.REQUEST_URI_TOO_LONG, "the request line is too long")


def _host(headers: HeaderFields, minor: bytes) -> str:
    """Returns the value of the header Host, empty if a request of HTTP/1.0 has none. Raises
    Refused if it is missing, repeated or malformed (RFC 9112 3.2)."""
    host = headers.get("Host")
    if host is None:
        if minor == b"1":
            raise malformed("no Host")
        return ""
    if not _HOST.fullmatch(host):  # several are joined by a comma
        raise malformed("malformed Host, or several")
    return str(host)


def _length(headers: HeaderFields, minor: bytes) -> int | None:
    """Returns the length of the body in bytes, None if it is chunked. Raises Refused for another
    transfer coding (RFC 9112 6.1). llhttp has refused a repeated length, or both together."""
    coding = headers.get("Transfer-Encoding")
    if coding is None:
        digits = headers.get("Content-Length", "0")
        if len(digits) > MAX_LENGTH_DIGITS:
            raise malformed("a Content-Length of too many digits")
        return int(digits)
    if minor == b"0":
        raise malformed("a transfer coding in HTTP/1.0")
    if coding.lower() != "chunked":
        raise malformed("another transfer coding than chunked")
    return None


def _origin_form(method: bytes, target: bytes, host: str) -> bytes:
    """Returns the target as a path with a query (RFC 9112 3.2). Raises Refused if it is malformed
    or names another host than `host`."""
    if b"#" in target.partition(b"?")[0]:
        raise malformed("a fragment, which servers in front cut off")
    if target.startswith(b"/") or (target == b"*" and method == b"OPTIONS"):
        return target
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None:
        raise malformed("malformed request target")
    if absolute[1].decode("latin-1").lower() != host.lower():
        raise malformed("the request target is another host's")
    path: bytes = absolute[2]
    return path if path.startswith(b"/") else b"/" + path
