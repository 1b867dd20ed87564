"""The methods of a request's connection that handlers use beyond Tornado's interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError


class ReceivedHead(Protocol):
    """What is known of a request before its body is received."""

    @property
    def size(self) -> int:
        """The length of the request line and the header fields, in bytes."""

    @property
    def length(self) -> int | None:
        """The length of the body in bytes, None if it is not known before its end."""


class ClientConnection(Protocol):
    """The connection of a request: `idp.server.http1.exchange`."""

    head: ReceivedHead

    @property
    def has_arrived(self) -> bool:
        """Whether all of the request has been received, though a part of its body may not have
        been passed to the handler."""

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Sets what is called if the connection ends before the request was answered."""

    def close(self) -> None:
        """Ends the connection immediately, unless the request was answered. If a part of the
        response was sent, the client notices that it is not complete."""

    def set_max_body_size(self, size: int) -> None:
        """Sets the length of the longest body of this request, in bytes."""


def of(request: HTTPServerRequest) -> ClientConnection:
    """Returns the connection of a request."""
    return cast(ClientConnection, request.connection)


def refusal(request: HTTPServerRequest) -> HTTPError | None:
    """Returns the error with which the request must be refused if the server could not read it,
    else None. With an error, only the method and the target are known."""
    return getattr(request, "refusal", None)
