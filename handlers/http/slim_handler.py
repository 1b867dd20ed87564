"""Tornado's request handler without the parts that this service does not use: UI modules, output
transforms, and an entity tag for every response. They would take a fifth of the time of a short
request.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from tornado.httputil import (
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerRequest,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.web import Application, RequestHandler

from handlers.http import client_connection
from handlers.http.header_fields import HeaderFields

_WITHOUT_BODY: Final = (204, 304)


class SlimHandler(RequestHandler):
    """Begins and ends a request as Tornado's handler does. Default headers are those of
    `set_default_headers` alone.

    Unless `prepares_for_body`, a body that has arrived with the head of the request is passed to
    the handler before `prepare` is called, which saves two turns of the event loop.
    """

    prepares_for_body = False

    _prepared_future: Future[None] | None  # type: ignore[assignment]

    def __init__(
        self, application: Application, request: HTTPServerRequest, **kwargs: Any
    ) -> None:
        # Instead of Tornado's own, which makes a namespace of UI modules for each request.
        self.application = application
        self.request = request
        self._headers_written = self._finished = False
        self._auto_finish = True
        self._prepared_future = None
        self.clear()
        client_connection.of(request).set_close_callback(self.on_connection_close)
        self.initialize(**kwargs)

    def clear(self) -> None:
        """Removes the headers and the body of the response, and sets the default headers."""
        self._headers = HeaderFields()
        self._write_buffer: list[bytes] = []
        self._status_code = 200
        self._reason = HTTPStatus.OK.phrase
        self.set_default_headers()

    def compute_etag(self) -> str | None:
        """Returns the entity tag of the response, None if it has none. Tornado would compute the
        hash of every response."""
        return None

    def finish(self, chunk: str | bytes | dict[str, Any] | None = None) -> Future[None]:
        """Sends the response, or the rest of it. The future is done when the client has room for
        more."""
        if self._headers_written or self._finished:
            return super().finish(chunk)
        if chunk is not None:
            self.write(chunk)
        self._check_etag()
        body = b"".join(self._write_buffer)
        self._write_buffer = []
        if self._status_code in _WITHOUT_BODY:
            if body:
                raise RuntimeError(f"a response of status {self._status_code} has no body")
            self._clear_representation_headers()
        elif "Content-Length" not in self._headers:
            self._headers["Content-Length"] = str(len(body))
        return self._send_whole(b"" if self.request.method == "HEAD" else body)

    def _check_etag(self) -> None:
        """Adds the entity tag of `compute_etag` to the response; if it is one that the client has,
        the response is a 304 (RFC 9110 13.1.2)."""
        if self._status_code != HTTPStatus.OK or self.request.method not in ("GET", "HEAD"):
            return
        etag = None if "Etag" in self._headers else self.compute_etag()
        if etag is None:
            return
        self._headers["Etag"] = etag
        if "If-None-Match" in self.request.headers and self.check_etag_header():
            self._write_buffer = []
            self.set_status(304)

    def _send_whole(self, body: bytes) -> Future[None]:
        connection: Any = self.request.connection
        connection.set_close_callback(None)
        self._headers_written = True
        for cookie in getattr(self, "_new_cookie", {}).values():
            self.add_header("Set-Cookie", cookie.OutputString(None))
        start_line = ResponseStartLine("", self._status_code, self._reason)
        sent: Future[None] = connection.write_headers(start_line, self._headers, body)
        connection.finish()
        self._log()
        self._finished = True
        self.on_finish()
        return sent


class HandlerDelegate(HTTPMessageDelegate):
    """Creates the handler of a request, and passes it the body in the parts that arrive
    (`stream_request_body`)."""

    def __init__(
        self,
        application: Application,
        request: HTTPServerRequest,
        handler_class: type[SlimHandler],
        handler_kwargs: Mapping[str, Any],
        path_args: Sequence[bytes],
        path_kwargs: Mapping[str, bytes],
    ) -> None:
        self.application = application
        self.request = request
        self.handler_class = handler_class
        self._handler_kwargs = handler_kwargs
        self._path_args, self._path_kwargs = path_args, path_kwargs

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        loop = asyncio.get_running_loop()
        self.request._body_future = loop.create_future()
        handler = self.handler_class(self.application, self.request, **self._handler_kwargs)
        self._handler = handler
        handler._prepared_future = prepared = loop.create_future()
        execution = handler._execute([], *self._path_args, **self._path_kwargs)
        loop.create_task(execution).add_done_callback(_raise_failure)
        has_arrived = client_connection.of(self.request).has_arrived
        return prepared if handler.prepares_for_body or not has_arrived else None

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        return self._handler.data_received(chunk)

    def finish(self) -> None:
        if not self.request._body_future.done():
            self.request._body_future.set_result(None)

    def on_connection_close(self) -> None:
        self._handler.on_connection_close()


def _raise_failure(task: asyncio.Task[None]) -> None:
    """Reports a failure that the handler did not answer to the event loop."""
    if not task.cancelled():
        task.result()
