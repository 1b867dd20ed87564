"""Accepts connections, within limits (`idp.server.connections`), and has Tornado serve them."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from tornado.http1connection import HTTP1ServerConnection
from tornado.httpserver import HTTPServer
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPMessageDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream, SSLIOStream
from tornado.web import Application

from idp.config.settings import Config
from idp.foundation import logs, metrics
from idp.server import descriptors
from idp.server.connections import Connection, Connections
from idp.server.port import BACKLOG, shut

MAX_HEADER_BYTES: Final = 256 * 1024  # a longer one closes the connection without a response
MAX_BODY_BYTES: Final = 8 * 1024 * 1024
IDLE_SECONDS: Final = 75  # between requests
STALLED_SECONDS: Final = 30  # while a response is sent and nothing of it arrives

_ACCEPTED_AT_ONCE: Final = 128  # then requests have their turn
_PAUSE_SECONDS: Final = 0.1  # after a failure, nothing is accepted for so long
_ROOM: Final = 16  # idle connections closed at once where descriptors are missing
_WARN_EVERY_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 1.0  # how often connections without a request are looked for

_log: Final = logs.logger(__name__)


class BoundedServer(HTTPServer):
    """Tornado's HTTP server over one listening socket, with bounds on its connections.

    `on_shut` is called when another process has ended listening on the socket.
    """

    def initialize(  # type: ignore[override]
        self,
        app: Application,
        config: Config,
        tls: ssl.SSLContext | None,
        on_shut: Callable[[], None],
    ) -> None:
        super().initialize(
            app,
            ssl_options=tls,
            max_header_size=MAX_HEADER_BYTES,
            max_body_size=MAX_BODY_BYTES,
        )
        self.conn_params.header_timeout = None  # `_look` closes what is idle
        self._on_shut = on_shut
        self._open = Connections()
        self.limit(config)
        self._by_stream: dict[IOStream, Connection] = {}
        self._warned_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    def limit(self, config: Config) -> None:
        """Applies the limits in the settings `config`: how many connections there may be, and how
        long each may take to its first request."""
        self._first_request_seconds = config.first_request_seconds
        self._open.limit = descriptors.most_connections(config.max_connections)

    def use_certificate(self, tls: ssl.SSLContext) -> None:
        """Uses another certificate for new connections."""
        self.ssl_options = tls

    def listen_on(self, listening: socket.socket) -> None:
        """Accepts the connections of a bound socket from now on."""
        self._listening = listening
        self._loop = asyncio.get_running_loop()
        listening.listen(BACKLOG)
        self._loop.add_reader(listening, self._accept, _ACCEPTED_AT_ONCE)
        self._look()

    def stop(self) -> None:
        """Accepts the connections that wait in the queue of the socket, then closes the socket: no
        client is reset, and connections that were accepted stay open."""
        self._loop.remove_reader(self._listening)
        self._accept(BACKLOG)
        shut(self._listening)
        self._listening.close()

    async def close_all_connections(self) -> None:
        """Closes every connection, whatever it does."""
        if self._timer is not None:
            self._timer.cancel()
        await super().close_all_connections()

    def _accept(self, count: int) -> None:
        """Accepts up to `count` of the connections that wait."""
        for _ in range(count):
            try:
                accepted, address = self._listening.accept()
            except BlockingIOError:
                return
            except ConnectionAbortedError:  # it was closed while it waited
                continue
            except OSError as error:
                self._not_accepted(error)
                return
            self._begin(accepted, address)

    def _begin(self, accepted: socket.socket, address: Any) -> None:
        """Has an accepted connection served, unless its client has reset it by now: its TLS
        handshake could not begin.
        """
        try:
            if self.ssl_options is not None:
                accepted.getpeername()
            self._handle_connection(accepted, address)
        except OSError:
            accepted.close()

    def _not_accepted(self, error: OSError) -> None:
        """Handles a failure of the listening socket: nothing is accepted for a moment."""
        self._loop.remove_reader(self._listening)
        if error.errno == errno.EINVAL:
            self._on_shut()
            return
        self._loop.call_later(_PAUSE_SECONDS, self._resume)
        if error.errno in descriptors.MISSING:
            self._open.make_room(_ROOM)
        now = self._loop.time()
        if now - self._warned_at >= _WARN_EVERY_SECONDS:
            self._warned_at = now
            self._report(error)

    def _report(self, error: OSError) -> None:
        if error.errno in descriptors.MISSING:
            _log.error("no file descriptors left", limit=descriptors.limit())
        else:
            _log.error("connections can't be accepted", cause=error.strerror)

    def _resume(self) -> None:
        if self._listening.fileno() >= 0:  # it was not closed meanwhile
            self._loop.add_reader(self._listening, self._accept, _ACCEPTED_AT_ONCE)

    def _look(self) -> None:
        """Closes connections whose clients send no request or read no response in time, now and
        every second."""
        self._timer = self._loop.call_later(_LOOK_SECONDS, self._look)
        now = self._loop.time()
        self._open.close_unused(now - self._first_request_seconds)
        self._open.close_idle(now - IDLE_SECONDS)
        self._open.close_stalled(now, STALLED_SECONDS)
        active = self._open.active
        metrics.HTTP_CONNECTIONS.set(active, "active")
        metrics.HTTP_CONNECTIONS.set(len(self._open) - active, "idle")

    def handle_stream(self, stream: IOStream, address: Any) -> None:
        """Serves a new connection, or closes it if there is no room for it."""
        connection = self._open.add(address[0], self._loop.time(), stream.close)
        if connection is None:
            stream.close()
            return
        connection.read = lambda: _read_by_client(stream)
        connection.is_handshaking = lambda: _is_handshaking(stream)
        self._by_stream[stream] = connection
        super().handle_stream(stream, address)

    def start_request(
        self, server_conn: object, request_conn: HTTPConnection
    ) -> HTTPMessageDelegate:
        """Records the connection as idle when Tornado begins to wait for a request on it, and
        returns Tornado's delegate for the request."""
        stream = _stream(server_conn)
        connection = self._by_stream[stream]
        self._open.rest(connection, self._loop.time())
        delegate = super().start_request(server_conn, request_conn)
        arrival = _Arrival(delegate, lambda: self._open.work(connection))
        connection.awaits_client = lambda: not arrival.is_complete or stream.writing()
        return arrival

    def on_close(self, server_conn: object) -> None:
        """Removes the record of a connection when Tornado reports that it has ended."""
        super().on_close(server_conn)
        stream = _stream(server_conn)
        if _has_failed_handshake(stream):
            metrics.HTTP_CONNECTIONS_CLOSED.count("tls")
        self._open.remove(self._by_stream.pop(stream))


class _Arrival(HTTPMessageDelegate):
    """Calls `arrived` when the head of a request has arrived; `is_complete` when its body has,
    too.
    """

    def __init__(self, delegate: HTTPMessageDelegate, arrived: Callable[[], None]) -> None:
        self._arrived = arrived
        self.is_complete = False
        self._headers_received = delegate.headers_received
        self._finish = delegate.finish
        self.data_received = delegate.data_received  # type: ignore[method-assign]
        self.on_connection_close = delegate.on_connection_close  # type: ignore[method-assign]

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        self._arrived()
        return self._headers_received(start_line, headers)

    def finish(self) -> None:
        self.is_complete = True
        self._finish()


def _stream(server_conn: object) -> IOStream:
    return cast(HTTP1ServerConnection, server_conn).stream


def _read_by_client(stream: IOStream) -> int | None:
    """How many bytes of responses the client has received; None if nothing is left to be sent. The
    kernel takes more only in large steps, while a slow client makes small ones."""
    if not stream.writing():
        return None
    return stream._total_write_done_index - descriptors.unacknowledged(stream.socket)


def _is_handshaking(stream: IOStream) -> bool:
    return isinstance(stream, SSLIOStream) and stream._ssl_accepting


def _has_failed_handshake(stream: IOStream) -> bool:
    """Whether a TLS handshake has failed; False if the client has only left meanwhile."""
    is_refused = isinstance(stream.error, ssl.SSLError)
    has_left = isinstance(stream.error, ssl.SSLEOFError | ssl.SSLZeroReturnError)
    return _is_handshaking(stream) and is_refused and not has_left
