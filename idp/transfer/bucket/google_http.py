"""Requests of Google's libraries, restricted to known servers and to a time limit.

The libraries follow redirects and addresses in responses, read responses of any length, and apply
their timeout to each read separately. This module sends requests to listed servers only, limits
the size of a response that is held in memory, and closes every connection at the time limit.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from requests import PreparedRequest, RequestException, Response, Session
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

MAX_RESPONSE_BYTES: Final = 1024 * 1024
TIMEOUT_SECONDS: Final = (10.0, 20.0)  # to establish a connection, and between two reads
_CHUNK_BYTES: Final = 64 * 1024


class RequestBlocked(RequestException):  # type: ignore[misc, unused-ignore]
    """The error that a request was not sent, or its response not read, because of a restriction of
    this module; the library does not retry it.
    """


class TimeLimit:
    """A time limit for all requests to a bucket, at whose end their connections are closed.

    Once `is_over` is true, the registered connections are closed, and each later one is closed as
    soon as it is registered. `register` and `end` may be called from different threads.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._sockets: list[socket.socket] = []
        self._connections: list[HTTPConnection] = []
        self._lock = threading.Lock()

    def register(self, connection: HTTPConnection, sock: socket.socket) -> None:
        """Registers a connection and its socket `sock`, which are closed at the time limit.

        The socket is duplicated, because TLS takes the original over.
        """
        with self._lock:
            self._connections.append(connection)
            self._sockets.append(sock.dup())
        # The limit may have passed between opening the socket and registering it.
        if self.is_over:
            self.end()

    def end(self) -> None:
        """Ends the time limit: closes the sockets of all registered connections, and from then on
        those of each connection as soon as it is registered.
        """
        self.is_over = True
        with self._lock:
            for each in self._sockets:
                _disconnect(each)
            self._sockets.clear()

    def close(self) -> None:
        """Ends the time limit and closes the connections as well; no request may use them any
        more, and data that they have not received yet is discarded.
        """
        self.end()
        for each in self._connections:
            each.close()


@contextmanager
def time_limit(seconds: float, aborted: threading.Event) -> Iterator[TimeLimit]:
    """Provides a time limit that ends after `seconds`, when the event `aborted` is set, or at the
    end of the block, whichever comes first.
    """
    limit = TimeLimit()

    def end() -> None:
        aborted.wait(max(seconds, 0))
        limit.end()

    threading.Thread(target=end, daemon=True).start()
    try:
        yield limit
    finally:
        aborted.set()
        limit.close()


class RestrictedAdapter(HTTPAdapter):  # type: ignore[misc, unused-ignore]
    """An adapter of `requests` that sends requests to `origins` only, and within the time limit
    `limit`.

    It raises RequestBlocked for any other request, for a redirect, and for a response that is too
    long.
    """

    def __init__(self, origins: frozenset[str], limit: TimeLimit) -> None:
        self._origins = origins
        self._limit = limit
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = _pools(self._limit)

    def send(self, request: PreparedRequest, *arguments: Any, **options: Any) -> Response:
        if self._limit.is_over:
            raise RequestBlocked("the time limit has passed")
        if origin(request.url or "") not in self._origins:
            raise RequestBlocked("a server that is not allowed")
        response = super().send(request, *arguments, **options)
        if response.is_redirect:
            response.close()
            raise RequestBlocked("a redirect")
        if not (arguments[0] if arguments else options.get("stream")):
            _read_bounded(response)
        return response


def restrict(session: Session, origins: frozenset[str], limit: TimeLimit) -> None:
    """Restricts a session to requests to `origins` (in the form that `origin` returns) within
    `limit`, and makes it ignore the proxies that are set in the environment.
    """
    session.trust_env = False
    adapter = RestrictedAdapter(origins, limit)
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)


def origin(url: str) -> str:
    """Returns the scheme, host and port of a URL, in lower case."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _read_bounded(response: Response) -> None:
    """Reads a response into memory. Raises RequestBlocked if it is too long."""
    content = b""
    for chunk in response.iter_content(_CHUNK_BYTES):
        content += chunk
        if len(content) > MAX_RESPONSE_BYTES:
            response.close()
            raise RequestBlocked("a response that is too long")
    # As `requests` itself stores a body that it has read.
    response._content = content


def _pools(limit: TimeLimit) -> dict[str, type[HTTPConnectionPool]]:
    """Returns connection pools whose connections are closed at the time limit."""

    class Plain(HTTPConnection):  # type: ignore[misc, unused-ignore]
        def _new_conn(self) -> socket.socket:
            return _registered(self, super()._new_conn(), limit)

    class Secure(HTTPSConnection):  # type: ignore[misc, unused-ignore]
        def _new_conn(self) -> socket.socket:
            return _registered(self, super()._new_conn(), limit)

    class PlainPool(HTTPConnectionPool):  # type: ignore[misc, unused-ignore]
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):  # type: ignore[misc, unused-ignore]
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


def _registered(
    connection: HTTPConnection, sock: socket.socket, limit: TimeLimit
) -> socket.socket:
    limit.register(connection, sock)
    return sock


def _disconnect(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # already closed
        pass
    finally:
        connection.close()
