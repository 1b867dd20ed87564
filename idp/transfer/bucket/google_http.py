"""Requests of Google's libraries, restricted to known servers and to a time limit.

The libraries follow redirects and addresses in responses, read responses of any length, and apply
their timeout to each read anew. This module sends requests to listed servers only, limits the size
of a response that is held in memory, and closes every connection at the time limit.
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

MAX_ANSWER_BYTES: Final = 1024 * 1024
SILENT_SECONDS: Final = (10.0, 20.0)  # until a connection is established, and between two reads
_PIECE: Final = 64 * 1024


class NotCalled(RequestException):  # type: ignore[misc, unused-ignore]
    """The error that a request was not sent, or its response not read, because of a restriction of
    this module; the library does not retry it.
    """


class TimeLimit:
    """A time limit for all requests to a bucket, at whose end their connections are closed.

    Once `is_over` is true, the registered connections are closed, and each later one is closed as
    soon as it is registered. `watch` and `end` may be called from different threads.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._sockets: list[socket.socket] = []
        self._connections: list[HTTPConnection] = []
        self._lock = threading.Lock()

    def watch(self, connection: HTTPConnection, over: socket.socket) -> None:
        """Registers a connection and its socket `over`, which are closed at the time limit.

        The socket is duplicated, because TLS takes the original over.
        """
        with self._lock:
            self._connections.append(connection)
            self._sockets.append(over.dup())
        # The period may have ended between opening the socket and registering it.
        if self.is_over:
            self.end()

    def end(self) -> None:
        """Ends the time limit: closes the sockets of all registered connections, and from then on
        those of each connection as soon as it is registered.
        """
        self.is_over = True
        with self._lock:
            for each in self._sockets:
                _cut(each)
            self._sockets.clear()

    def close(self) -> None:
        """Ends the time limit and closes the connections as well; no request may use them any
        more, and data that they have not received yet is discarded.
        """
        self.end()
        for each in self._connections:
            each.close()


@contextmanager
def time_limit(seconds: float, leaving: threading.Event) -> Iterator[TimeLimit]:
    """Provides a time limit that ends after `seconds`, when the event `leaving` is set, or at the
    end of the block, whichever comes first.
    """
    time = TimeLimit()

    def end() -> None:
        leaving.wait(max(seconds, 0))
        time.end()

    threading.Thread(target=end, daemon=True).start()
    try:
        yield time
    finally:
        leaving.set()
        time.close()


class GuardedAdapter(HTTPAdapter):  # type: ignore[misc, unused-ignore]
    """An adapter of `requests` that sends requests to `origins` only, and within the time limit
    `time`.

    It raises NotCalled for any other request, for a redirect, and for a response that is too long.
    """

    def __init__(self, origins: frozenset[str], time: TimeLimit) -> None:
        self._origins = origins
        self._time = time
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        super().init_poolmanager(*arguments, **named)
        self.poolmanager.pool_classes_by_scheme = _pools(self._time)

    def send(self, request: PreparedRequest, *arguments: Any, **named: Any) -> Response:
        if self._time.is_over:
            raise NotCalled("the time is over")
        if origin(request.url or "") not in self._origins:
            raise NotCalled("another server than the one that was set")
        response = super().send(request, *arguments, **named)
        if response.is_redirect:
            response.close()
            raise NotCalled("a redirect")
        if not (arguments[0] if arguments else named.get("stream")):
            _read_short(response)
        return response


def guard(session: Session, origins: frozenset[str], time: TimeLimit) -> None:
    """Restricts a session to requests to `origins` (in the form that `origin` returns) within
    `time`, and makes it ignore the proxies that are set in the environment.
    """
    session.trust_env = False
    adapter = GuardedAdapter(origins, time)
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)


def origin(url: str) -> str:
    """Returns the scheme, host and port of a URL, in lower case."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _read_short(response: Response) -> None:
    """Reads a response into memory. Raises NotCalled if it is too long."""
    content = b""
    for piece in response.iter_content(_PIECE):
        content += piece
        if len(content) > MAX_ANSWER_BYTES:
            response.close()
            raise NotCalled("an answer without end")
    # As `requests` itself stores a body that it has read.
    response._content = content


def _pools(time: TimeLimit) -> dict[str, type[HTTPConnectionPool]]:
    """Returns connection pools whose connections are closed at the time limit."""

    class Plain(HTTPConnection):  # type: ignore[misc, unused-ignore]
        def _new_conn(self) -> socket.socket:
            return _watched(self, super()._new_conn(), time)

    class Secure(HTTPSConnection):  # type: ignore[misc, unused-ignore]
        def _new_conn(self) -> socket.socket:
            return _watched(self, super()._new_conn(), time)

    class PlainPool(HTTPConnectionPool):  # type: ignore[misc, unused-ignore]
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):  # type: ignore[misc, unused-ignore]
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


def _watched(connection: HTTPConnection, over: socket.socket, time: TimeLimit) -> socket.socket:
    time.watch(connection, over)
    return over


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # already closed
        pass
    finally:
        connection.close()
