"""One request and the response to it, in the form of the connection that Tornado's handlers
use."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Protocol, cast

from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPOutputError,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import StreamClosedError

from idp.server.http1.refusal import Refused
from idp.server.http1.request_reader import RequestHead

_WITHOUT_BODY: Final = (204, 304)
_MAX_JOINED_BYTES: Final = 64 * 1024  # a longer body is sent apart from its head, uncopied
_NO_HANDLER: Final = HTTPMessageDelegate()


class Stream(Protocol):
    """The part of a connection that an exchange uses."""

    @property
    def is_closed(self) -> bool:
        """Whether nothing more can be sent."""

    def has_received(self, head: RequestHead) -> bool:
        """Returns whether the whole body of the request with this head, the last one that was
        read, has arrived."""

    def send(self, data: bytes) -> Future[None]:
        """Sends bytes; the future is done when the client has room for more."""

    def close(self) -> None:
        """Ends the connection immediately."""

    def end_exchange(self, exchange: Exchange) -> None:
        """Ends an exchange whose response is complete."""


class Exchange(HTTPConnection):
    """A request with its response. Handlers call the methods of `HTTPConnection`, and `close`.

    `is_read` is whether the whole body of the request has arrived; `delegate` receives it. A
    response that is sent before that ends the connection.
    """

    def __init__(self, stream: Stream, head: RequestHead, max_body_bytes: int) -> None:
        self.head = head
        self.delegate = _NO_HANDLER
        self.is_read = self.has_begun = self.is_answered = False
        self.max_body_bytes = max_body_bytes
        self.received = 0  # bytes of the body
        self.is_persistent = head.is_persistent
        self.on_close: Callable[[], None] | None = None
        self._stream = stream
        self._is_chunked = False
        self._remaining: int | None = None  # bytes of the body to be sent; None without a length

    @property
    def ends_with_connection(self) -> bool:
        """Whether a response has begun whose body ends where the connection does (HTTP/1.0)."""
        return self.has_begun and self._remaining is None and not self._is_chunked

    @property
    def has_arrived(self) -> bool:
        """Whether all of the request has been received, though a part of its body may not have
        been passed to the handler."""
        return self.is_read or self._stream.has_received(self.head)

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Sets what is called if the client disconnects before its request is answered."""
        self.on_close = callback

    def set_max_body_size(self, size: int) -> None:
        """Sets the length of the longest body of this request, in bytes."""
        self.max_body_bytes = size

    def release(self) -> None:
        """Removes the references to the handler, after the request has ended. As the handler
        refers to this exchange, both would otherwise remain until the garbage collector finds
        them."""
        self.delegate, self.on_close = _NO_HANDLER, None

    def check_length(self, length: int) -> None:
        """Raises Refused if a body of this length, in bytes, is too long for the request."""
        if length > self.max_body_bytes:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the body is too long")

    def close(self) -> None:
        """Ends the connection immediately. Has no effect after the response is complete, because
        the connection may have the next request then."""
        if not self.is_answered:
            self._stream.close()

    def write_headers(
        self,
        start_line: RequestStartLine | ResponseStartLine,
        headers: HTTPHeaders,
        chunk: bytes | None = None,
    ) -> Future[None]:
        if self._has_ended():
            return _closed_future()
        self.has_begun = True
        try:
            head = self._response_head(cast(ResponseStartLine, start_line), headers)
        except ValueError:
            self._stream.close()
            raise
        body = self._framed(chunk) if chunk else b""
        if len(body) <= _MAX_JOINED_BYTES:
            return self._stream.send(head + body)
        self._stream.send(head)
        return self._stream.send(body)

    def _response_head(self, line: ResponseStartLine, headers: HTTPHeaders) -> bytes:
        """Returns the head of the response, and sets how its body is framed: by its length, by
        chunks or by the end of the connection."""
        has_length = "Content-Length" in headers
        has_body = not (self.head.method == "HEAD" or line.code in _WITHOUT_BODY)
        is_http_11 = self.head.version == "HTTP/1.1"
        lines = [f"HTTP/1.1 {line.code} {line.reason}"]
        lines += [f"{name}: {value}" for name, value in headers.get_all()]
        if not has_body:
            self._remaining = 0
        elif has_length:
            self._remaining = int(headers["Content-Length"])
        elif is_http_11:
            self._is_chunked = True
            lines.append("Transfer-Encoding: chunked")
        else:
            self.is_persistent = False  # the end of the connection is that of the body
        if connection := self._connection(headers, is_http_11=is_http_11):
            lines.append(connection)
        text = "\r\n".join(lines)
        if text.count("\r") != len(lines) - 1 or text.count("\n") != len(lines) - 1:
            raise ValueError("a header of the response has a line end")
        return f"{text}\r\n\r\n".encode("latin-1")

    def _connection(self, headers: HTTPHeaders, *, is_http_11: bool) -> str:
        """Returns the header Connection, which states whether the connection stays open; an empty
        text if it is not needed (RFC 9112 9.3). A `Connection: close` of the handler only asks
        the client to close it: in a shutdown, requests that were sent before are answered."""
        self.is_persistent = self.is_persistent and self.is_read
        if "Connection" in headers:
            return ""
        if is_http_11:
            return "" if self.is_persistent else "Connection: close"
        return "Connection: keep-alive" if self.is_persistent else ""

    def write(self, chunk: bytes) -> Future[None]:
        if self._has_ended():
            return _closed_future()
        return self._stream.send(self._framed(chunk))

    def _framed(self, chunk: bytes) -> bytes:
        """Returns a part of the response's body as it is sent, with the frame of a chunk if the
        body is chunked. Raises HTTPOutputError if it is longer than its Content-Length."""
        if self._remaining is not None:
            self._remaining -= len(chunk)
            if self._remaining < 0:
                self._stream.close()
                raise HTTPOutputError("the response is longer than its Content-Length")
        if self._is_chunked and chunk:  # an empty one would end the body
            return b"%x\r\n%b\r\n" % (len(chunk), chunk)
        return chunk

    def finish(self) -> None:
        if self._has_ended():
            return
        if self._remaining:
            self._stream.close()
            raise HTTPOutputError("the response is shorter than its Content-Length")
        if self._is_chunked:
            self._stream.send(b"0\r\n\r\n")
        self.is_answered = True
        self._stream.end_exchange(self)

    def _has_ended(self) -> bool:
        return self.is_answered or self._stream.is_closed


def _closed_future() -> Future[None]:
    """Returns a future that fails because the connection is closed."""
    future: Future[None] = Future()
    future.set_exception(StreamClosedError())
    future.exception()  # retrieved, so that asyncio does not log it if no one awaits the future
    return future
