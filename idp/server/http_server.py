"""Accepts connections, within limits (`idp.server.connections`), and serves them."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from idp.config.settings import Config
from idp.foundation import logs, metrics
from idp.server import descriptors
from idp.server.connections import Connection, Connections
from idp.server.http1.client_stream import ClientStream
from idp.server.http1.request import Peer
from idp.server.http1.router import Router
from idp.server.http1.tls import TlsLayer
from idp.server.port import BACKLOG, ManagersSocket, stop_listening

MAX_HEAD_BYTES: Final = 256 * 1024  # a longer head is refused before a handler receives it
IDLE_SECONDS: Final = 75  # between requests
STALLED_SECONDS: Final = 30  # below the least rate while a response is sent

_MAX_ACCEPTED_PER_EVENT: Final = 128  # before the event loop continues with requests
_PAUSE_SECONDS: Final = 0.1  # without accepting, after a failure
_CLOSED_AT_EXHAUSTION: Final = 16  # how many connections are closed when no descriptors are left
_WARN_EVERY_SECONDS: Final = 10.0
_CHECK_SECONDS: Final = 1.0  # between checks of the time limits
_FLUSH_SECONDS: Final = 2.0  # at the end, to send the responses that were written
_ARRIVAL_SECONDS: Final = 0.5  # at the end, from the acceptance of a connection to its request

_log: Final = logs.logger(__name__)


class BoundedServer:
    """Serves the handlers of `app` over one listening socket, with bounds on its connections.

    `on_listening_stopped` is called when another process has ended listening on the socket.
    """

    def __init__(
        self,
        app: Router,
        config: Config,
        tls: ssl.SSLContext | None,
        on_listening_stopped: Callable[[], None],
    ) -> None:
        self._app = app
        self._tls = tls
        self._on_listening_stopped = on_listening_stopped
        self._connections = Connections(descriptors.max_connections(config.max_connections))
        self._first_request_seconds = config.first_request_seconds
        self._max_head_bytes = max(MAX_HEAD_BYTES, config.max_header_bytes)
        self._connection_of_stream: dict[ClientStream, Connection] = {}
        self._starting_tasks: set[asyncio.Task[Any]] = set()
        self._is_empty = asyncio.Event()
        self._warned_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    def use_certificate(self, tls: ssl.SSLContext) -> None:
        """Uses another certificate for new connections."""
        self._tls = tls

    def listen_on(self, listening_socket: socket.socket) -> None:
        """Accepts the connections of a bound socket from now on."""
        self._listening_socket = listening_socket
        self._loop = asyncio.get_running_loop()
        listening_socket.listen(BACKLOG)
        self._loop.add_reader(listening_socket, self._accept, _MAX_ACCEPTED_PER_EVENT)
        self._check_time_limits()

    def stop(self) -> None:
        """Accepts the connections that wait in the queue of the socket, then closes the socket: no
        client is reset, and connections that were accepted stay open. Those in the queue of the
        service manager's socket wait for the next process."""
        self._loop.remove_reader(self._listening_socket)
        if not isinstance(self._listening_socket, ManagersSocket):
            self._accept(BACKLOG)
        stop_listening(self._listening_socket)
        self._listening_socket.close()

    async def first_requests(self) -> None:
        """Lets the first request arrive, after `stop`, of those who connected in the last moments:
        it is answered like one in progress."""
        if self._connections.is_one_unused_since(self._loop.time() - _ARRIVAL_SECONDS):
            await asyncio.sleep(_ARRIVAL_SECONDS)

    async def close_all_connections(self) -> None:
        """Closes every connection, also one with a request in progress. The parts of responses
        that have been written are sent first, if their clients read it within `_FLUSH_SECONDS`."""
        if self._timer is not None:
            self._timer.cancel()
        for stream in list(self._connection_of_stream):
            stream.close_after_sending()
        try:
            await asyncio.wait_for(self._all_closed(), _FLUSH_SECONDS)
        except TimeoutError:
            for stream in list(self._connection_of_stream):
                stream.close()
            await self._all_closed()

    async def _all_closed(self) -> None:
        """Returns when no connection is open."""
        while self._connection_of_stream:
            self._is_empty.clear()
            await self._is_empty.wait()

    def _accept(self, count: int) -> None:
        """Accepts up to `count` of the connections that wait."""
        for _ in range(count):
            try:
                accepted_socket, address = self._listening_socket.accept()
            except BlockingIOError:
                return
            except ConnectionAbortedError:  # it was closed while it waited
                continue
            except OSError as error:
                self._handle_accept_error(error)
                return
            self._serve(accepted_socket, address)

    def _serve(self, accepted_socket: socket.socket, address: Any) -> None:
        """Begins to serve an accepted connection, or closes it if there is no room for it."""
        tls = self._tls
        client = Peer(address[0], "http" if tls is None else "https")
        stream = ClientStream(self._app, self, client, self._max_head_bytes)
        connection = self._connections.add(address[0], self._loop.time(), stream.close)
        if connection is None:
            accepted_socket.close()
            return
        connection.bytes_read, connection.awaits_client = (
            stream.read_by_client,
            stream.awaits_client,
        )
        protocol: asyncio.Protocol = stream
        if tls is not None:
            protocol = layer = TlsLayer(tls, stream, partial(_report_handshake, address[0]))
            connection.is_handshaking = lambda: layer.is_handshaking
        self._connection_of_stream[stream] = connection
        accepted_socket.setblocking(False)
        task = self._loop.create_task(
            self._loop.connect_accepted_socket(lambda: protocol, accepted_socket)
        )
        self._starting_tasks.add(task)
        task.add_done_callback(partial(self._started, stream, accepted_socket))

    def _started(
        self, stream: ClientStream, accepted_socket: socket.socket, task: asyncio.Task[Any]
    ) -> None:
        self._starting_tasks.discard(task)
        if task.cancelled() or task.exception() is not None:  # it was reset meanwhile
            accepted_socket.close()
            self.stream_closed(stream)

    def _handle_accept_error(self, error: OSError) -> None:
        """Handles a failure of the listening socket: accepting pauses for `_PAUSE_SECONDS`."""
        self._loop.remove_reader(self._listening_socket)
        if error.errno == errno.EINVAL:
            self._on_listening_stopped()
            return
        self._loop.call_later(_PAUSE_SECONDS, self._resume)
        if error.errno in descriptors.EXHAUSTED:
            self._connections.make_room(_CLOSED_AT_EXHAUSTION)
        now = self._loop.time()
        if now - self._warned_at >= _WARN_EVERY_SECONDS:
            self._warned_at = now
            self._report(error)

    def _report(self, error: OSError) -> None:
        if error.errno in descriptors.EXHAUSTED:
            _log.error("no file descriptors left", limit=descriptors.limit())
        else:
            _log.error("connections can't be accepted", cause=error.strerror)

    def _resume(self) -> None:
        if self._listening_socket.fileno() >= 0:  # it was not closed meanwhile
            self._loop.add_reader(self._listening_socket, self._accept, _MAX_ACCEPTED_PER_EVENT)

    def _check_time_limits(self) -> None:
        """Closes connections whose clients send no request or read no response in time, now and
        every second."""
        self._timer = self._loop.call_later(_CHECK_SECONDS, self._check_time_limits)
        now = self._loop.time()
        self._connections.close_unused(now - self._first_request_seconds)
        self._connections.close_idle(now - IDLE_SECONDS)
        self._connections.close_stalled(now, STALLED_SECONDS)
        active = self._connections.active
        metrics.HTTP_CONNECTIONS.set(active, "active")
        metrics.HTTP_CONNECTIONS.set(len(self._connections) - active, "idle")

    def stream_busy(self, stream: ClientStream) -> None:
        """Records that the head of a request has arrived."""
        self._connections.mark_busy(self._connection_of_stream[stream])

    def stream_idle(self, stream: ClientStream) -> None:
        """Records that the connection waits for its next request."""
        self._connections.mark_idle(self._connection_of_stream[stream], self._loop.time())

    def stream_closed(self, stream: ClientStream) -> None:
        """Removes the record of a connection that is closed."""
        connection = self._connection_of_stream.pop(stream, None)
        if connection is not None:
            self._connections.remove(connection)
        if not self._connection_of_stream:
            self._is_empty.set()


def _report_handshake(address: str, cause: str) -> None:
    """Counts a TLS handshake that has failed, and logs it: at most one line a second, because
    any client can cause it."""
    metrics.HTTP_CONNECTIONS_CLOSED.count("tls")
    _log.log("info", "a TLS handshake failed", {"cause": cause, "address": address}, limit=1)
