"""A client's connection, whose requests are answered one after the other."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any, Final, Protocol

from tornado.httputil import RequestStartLine
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError

from idp.foundation import logs
from idp.server import client_socket
from idp.server.http1.exchange import Exchange
from idp.server.http1.refusal import Refused
from idp.server.http1.request import ParsedRequest, Peer
from idp.server.http1.request_reader import RequestHead, RequestReader, unread_head
from idp.server.http1.router import Router

MAX_BODY_BYTES: Final = 8 * 1024 * 1024
MAX_BUFFERED_BYTES: Final = 64 * 1024  # reading pauses there until a handler reads some
HALF_CLOSED_SECONDS: Final = 0.5
LINGER_SECONDS: Final = 2.0

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_log: Final = logs.logger(__name__)


class StreamObserver(Protocol):
    """Records what happens to a connection."""

    def stream_busy(self, stream: ClientStream) -> None:
        """Records that the head of a request has arrived."""

    def stream_idle(self, stream: ClientStream) -> None:
        """Records that the connection waits for its next request."""

    def stream_closed(self, stream: ClientStream) -> None:
        """Records that the connection is closed."""


class ClientStream(asyncio.Protocol):
    """Reads the requests of one client, has them answered by the handlers of `router`, and sends
    the responses.

    While a request is answered, up to MAX_BUFFERED_BYTES of the next ones are buffered; then
    reading pauses. When the client has closed its sending side, it gets the response if that
    begins within HALF_CLOSED_SECONDS and each part follows the last one within LINGER_SECONDS, and
    may take as long as it needs to read it. Else it is treated as disconnected: a server can't
    distinguish the two. If the service ends a
    connection before the client has sent everything, it continues reading for LINGER_SECONDS: the
    kernel would otherwise discard the response together with the unread data.
    """

    def __init__(
        self, router: Router, observer: StreamObserver, client: Peer, max_head_bytes: int
    ) -> None:
        self.is_closed = False
        self._router = router
        self._router_refuses = getattr(router, "refuses_requests", False)
        self._observer = observer
        self._client = client
        self._reader = RequestReader(max_head_bytes)
        self._exchange: Exchange | None = None
        self._accepts_body = False
        self._is_reading_paused = False
        self._drained: Future[None] | None = None  # pending while the write buffer is full
        self._is_busy = False  # a request or its response is in progress
        self._has_client_ended = False  # its sending side; it may still read
        self._is_lingering = False
        self._timer: asyncio.TimerHandle | None = None
        self._is_connected = False
        self._sent = self._sent_before = 0  # bytes; and at the last `_time_out`

    # For the limits on connections (`idp.server.connections`).

    def is_sending(self) -> bool:
        """Returns whether a part of a response waits until the client reads."""
        return self._is_connected and self._transport.get_write_buffer_size() > 0

    def awaits_client(self) -> bool:
        """Returns whether a request in progress waits for its client."""
        exchange = self._exchange
        return exchange is None or not exchange.is_read or self.is_sending()

    def read_by_client(self) -> int | None:
        """Returns how many bytes of responses the client has acknowledged, which excludes those in
        the kernel's send buffer; None if nothing is left to be sent."""
        if not self.is_sending():
            return None
        unread = client_socket.unacknowledged(self._transport.get_extra_info("socket"))
        return self._sent - self._transport.get_write_buffer_size() - unread

    def has_received(self, head: RequestHead) -> bool:
        """Does what `Stream.has_received` says."""
        has_body = head.length is not None and self._reader.buffered >= head.length
        return has_body or self._reader.is_complete

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._is_connected = True
        self._loop = asyncio.get_running_loop()
        # Each request begins in this context, not in that of the previous one.
        self._context = copy_context()
        self._completed = self._loop.create_future()
        self._completed.set_result(None)
        if self.is_closed:
            transport.abort()  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        if self._is_lingering or self.is_closed:
            return
        self._reader.receive(data)
        if self._exchange is None:
            self._begin_request()
        elif self._accepts_body:
            self._pass_body(self._exchange)
        if self._reader.buffered >= MAX_BUFFERED_BYTES:
            self._pause_reading()

    def eof_received(self) -> bool:
        self._has_client_ended = True
        if self._may_answer():
            self._set_timer(HALF_CLOSED_SECONDS, self._time_out)
            return True
        self.is_closed = True
        self._abandon()
        return False

    def _may_answer(self) -> bool:
        """Whether every request that has arrived so far may be complete, and one is unanswered."""
        exchange = self._exchange
        is_complete_so_far = exchange is None or exchange.is_read or not self._accepts_body
        return is_complete_so_far and self._is_busy and not (self._is_lingering or self.is_closed)

    def pause_writing(self) -> None:
        self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        drained, self._drained = self._drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)
        if self._exchange is None and not self.is_closed:
            self._begin_soon()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_closed = True
        self._abandon()
        self._cancel_timer()
        self._reader.end()
        self._observer.stream_closed(self)

    def _abandon(self) -> None:
        """Ends the current exchange, and reports to its handler that the client has
        disconnected."""
        if self._drained is not None and not self._drained.done():
            self._drained.set_exception(StreamClosedError())
            self._drained.exception()  # retrieved, so that asyncio does not log it
        exchange, self._exchange = self._exchange, None
        if exchange is None:
            return
        exchange.is_answered = True
        if not exchange.is_read:
            exchange.delegate.on_connection_close()
        elif exchange.on_close is not None:
            exchange.on_close()
        exchange.release()

    # Requests and responses.

    def _begin_soon(self) -> None:
        """Schedules the next request on the event loop, with a fresh context."""
        self._loop.call_soon(self._begin_request, context=self._context.copy())

    def _begin_request(self) -> None:
        """Begins the next request, if its head has arrived."""
        is_busy = self._exchange is not None or self._drained is not None
        if is_busy or self._is_lingering or self.is_closed:
            return
        try:
            head = self._reader.next_head()
        except Refused as refusal:
            self._refuse(refusal)
            return
        if head is not None:
            self._begin_exchange(head)
        elif self._has_client_ended:
            self.close_after_sending()
        else:
            self._await_request()

    def _await_request(self) -> None:
        """Waits until the next head is complete. Its time limit is counted from the end of the
        last response, not from the last byte that arrived."""
        if self._is_busy:
            self._is_busy = False
            self._observer.stream_idle(self)
        self._resume_reading()

    def _begin_exchange(self, head: RequestHead, refusal: HTTPError | None = None) -> None:
        self._is_busy = True
        self._observer.stream_busy(self)
        exchange = Exchange(self, head, MAX_BODY_BYTES)
        request = ParsedRequest(head, exchange, self._client)
        request.refusal = refusal
        self._accepts_body = False
        try:
            delegate = self._router.find_handler(request)
            if delegate is None:
                raise LookupError("no handler")
            start = RequestStartLine(head.method, head.target, head.version)
            prepared: Any = delegate.headers_received(start, head.headers)
            exchange.delegate, self._exchange = delegate, exchange
        except Exception as error:
            self._fail(error)
            return
        if refusal is not None:
            return
        if self._reader.is_complete:
            self._complete(exchange)
        elif prepared is None:
            self._begin_body(exchange)
        else:
            prepared.add_done_callback(partial(self._begin_body, exchange))

    def _begin_body(self, exchange: Exchange, _: object = None) -> None:
        """Begins to pass the body, as it arrives, to the handler, which is ready for it."""
        if exchange is not self._exchange:  # the request was answered without its body
            return
        if exchange.head.expects_continue and not (self._reader.buffered or exchange.has_begun):
            self.send(_CONTINUE)
        self._accepts_body = True
        self._pass_body(exchange)

    def _pass_body(self, exchange: Exchange) -> None:
        try:
            exchange.check_length(exchange.head.length or 0)
            body = self._reader.next_body()
            exchange.check_length(exchange.received + len(body))
        except Refused as refusal:
            self._refuse(refusal)
            return
        exchange.received += len(body)
        try:
            processed: Any = exchange.delegate.data_received(body) if body else None
        except Exception as error:
            self._fail(error)
            return
        if exchange is not self._exchange:
            return
        if processed is not None:
            self._accepts_body = False
            continuation = partial(self._body_processed, exchange)
            asyncio.ensure_future(processed).add_done_callback(continuation)
        else:
            self._body_passed(exchange)

    def _body_processed(self, exchange: Exchange, processed: Future[None]) -> None:
        """Passes the next part of the body, after the handler has processed one."""
        if exchange is not self._exchange:
            return
        if processed.cancelled() or (error := processed.exception()) is None:
            self._accepts_body = True
            self._pass_body(exchange)
        else:
            self._fail(error)

    def _body_passed(self, exchange: Exchange) -> None:
        if self._reader.is_complete:
            self._complete(exchange)
        elif self._has_client_ended:
            self.close()
        else:
            self._resume_reading()

    def _complete(self, exchange: Exchange) -> None:
        self._accepts_body = False
        exchange.is_read = True
        try:
            exchange.delegate.finish()
        except Exception as error:
            self._fail(error)

    def send(self, data: bytes) -> Future[None]:
        """Sends bytes; the future is done when the client has room for more."""
        self._sent += len(data)
        self._transport.write(data)
        return self._completed if self._drained is None else self._drained

    def end_exchange(self, exchange: Exchange) -> None:
        """Ends an exchange whose response is complete. Then the next request begins, as soon as
        the client has read most of the response, or the connection ends."""
        self._exchange = None
        exchange.release()
        if not exchange.is_persistent or not exchange.is_read:
            self._end_connection()
        elif self._reader.buffered or self._has_client_ended or self._drained is not None:
            self._begin_soon()
        else:
            self._await_request()

    def _refuse(self, refusal: Refused) -> None:
        """Answers a malformed or too large request, and ends the connection."""
        exchange = self._exchange
        _log.info("malformed request", address=self._client.remote_ip, cause=refusal.cause)
        if exchange is not None and exchange.has_begun:
            self.close()
        elif refusal.method and self._router_refuses:
            self._begin_exchange(unread_head(refusal), HTTPError(refusal.status, refusal.cause))
        else:
            self._abandon()
            self.send(refusal.response)
            self._linger()

    def _fail(self, error: BaseException) -> None:
        """Ends the connection after a failure of a handler outside of its own task."""
        _log.error("failed", exc_info=error)
        self.close()

    # The end of the connection, and back-pressure.

    def close(self) -> None:
        """Ends the connection immediately: by a reset if a part of a response was not sent,
        because its end may be the end of the connection (HTTP/1.0)."""
        is_partial = self._has_begun() or self.is_sending()
        self.is_closed = True
        self._abandon()
        if self._is_connected:
            if is_partial:
                client_socket.reset_at_close(self._transport.get_extra_info("socket"))
            self._transport.abort()

    def _has_begun(self) -> bool:
        """Whether a response has begun that is not complete."""
        return self._exchange is not None and self._exchange.has_begun

    def close_after_sending(self) -> None:
        """Ends the connection when everything that was written has been sent. Resets it instead if
        that would be the end of a response that is not complete."""
        if self._exchange is not None and self._exchange.ends_with_connection:
            self.close()
            return
        self.is_closed = True
        self._abandon()
        if self._is_connected:
            self._cancel_timer()
            self._transport.close()

    def _end_connection(self) -> None:
        """Ends the connection after the last response."""
        if self._reader.is_complete and not self._reader.buffered:
            self.close_after_sending()
        else:
            self._linger()

    def _linger(self) -> None:
        """Ends the sending side immediately, and the connection after LINGER_SECONDS, in which the
        client may still send."""
        if self._has_client_ended or self._transport.is_closing():
            self.close_after_sending()
            return
        self._is_lingering = True
        self._transport.write_eof()
        self._resume_reading()
        self._set_timer(LINGER_SECONDS, self._time_out)

    def _time_out(self) -> None:
        """Ends the connection, unless a part of a response was sent since the last call, or is
        still being sent."""
        is_continuing = self._has_begun() and self._sent > self._sent_before
        self._sent_before = self._sent
        if is_continuing or self.is_sending():
            self._set_timer(LINGER_SECONDS, self._time_out)
        else:
            self.close()

    def _set_timer(self, seconds: float, callback: Callable[[], None]) -> None:
        self._cancel_timer()
        self._timer = self._loop.call_later(seconds, callback)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _pause_reading(self) -> None:
        # Without a request in progress, or a response to be read first, it is a head that grows.
        is_answering = self._exchange is not None or self._drained is not None
        if is_answering and not (self._is_reading_paused or self._transport.is_closing()):
            self._is_reading_paused = True
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._is_reading_paused:
            self._is_reading_paused = False
            # The next request will begin in this context.
            self._context.copy().run(self._transport.resume_reading)
