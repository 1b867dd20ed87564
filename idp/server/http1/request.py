"""A request in the form in which Tornado's handlers read it."""

from __future__ import annotations

import time
from functools import cached_property
from typing import NamedTuple

from tornado.escape import parse_qs_bytes
from tornado.httputil import (
    HTTPConnection,
    HTTPFile,
    HTTPServerRequest,
    split_host_and_port,
)
from tornado.web import HTTPError

from idp.server.http1.request_reader import RequestHead


class Peer(NamedTuple):
    """The client at the other end of a connection: its address, and `http` or `https`."""

    remote_ip: str
    protocol: str


class ParsedRequest(HTTPServerRequest):
    """A request whose head was validated by the reader. Unlike Tornado's own class, it does not
    validate the head again, and parses the query only when it is read.

    `refusal` is the error with which the handler must refuse it; then only method and target are
    known.
    """

    refusal: HTTPError | None = None

    def __init__(self, head: RequestHead, connection: HTTPConnection, client: Peer) -> None:
        self.method, self.uri, self.version = head.method, head.target, head.version
        self.headers, self.host = head.headers, head.host
        self.path, _, self.query = head.target.partition("?")
        self.remote_ip, self.protocol = client
        self.connection = connection
        self.server_connection = None
        self.body = b""
        self._began_at = time.monotonic()

    def request_time(self) -> float:
        """Returns the seconds since the head of the request arrived."""
        return time.monotonic() - self._began_at

    # For Tornado's own handlers: those of this service parse queries and forms themselves.

    @cached_property
    def host_name(self) -> str:  # type: ignore[override]
        """The host without its port."""
        return split_host_and_port(self.host.lower())[0]

    @cached_property
    def query_arguments(self) -> dict[str, list[bytes]]:  # type: ignore[override]
        """The parameters of the query."""
        return parse_qs_bytes(self.query, keep_blank_values=True)

    @cached_property
    def arguments(self) -> dict[str, list[bytes]]:  # type: ignore[override]
        """The parameters of the query; Tornado adds those of a form."""
        return {name: list(values) for name, values in self.query_arguments.items()}

    @cached_property
    def body_arguments(self) -> dict[str, list[bytes]]:  # type: ignore[override]
        """The parameters of a form, which Tornado adds."""
        return {}

    @cached_property
    def files(self) -> dict[str, list[HTTPFile]]:  # type: ignore[override]
        """The files of a form, which Tornado adds."""
        return {}
