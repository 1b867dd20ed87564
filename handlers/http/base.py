"""The base handlers: size limits, request ids, headers, and the mapping of errors to responses.

`Handler` is the base of every endpoint; `ProtocolHandler` answers OAuth clients in JSON. Pages
have their base in `handlers/pages/base.py`, the management API has its own in `handlers/api.py`.
"""

from __future__ import annotations

import asyncio
import re
from asyncio import Future
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from http import HTTPStatus
from typing import Any, Final, Protocol, cast

import msgspec
from tornado.http1connection import HTTP1Connection
from tornado.httputil import HTTPHeaders, format_timestamp
from tornado.web import Finish, HTTPError, RequestHandler, stream_request_body

from handlers.http import admission, hosts, params, request_span
from handlers.http.admission import Admission, Group, Shed
from handlers.http.protocol_errors import as_oauth_error
from handlers.http.request_place import RequestPlace
from idp import test_mode
from idp.foundation import logs, metrics
from idp.foundation.errors import Busy, IdpError
from idp.foundation.metrics import request_costs
from idp.foundation.network_keys import network_key
from idp.foundation.tracing import RequestSpan
from idp.identity.guesses.origin import AttemptOrigin
from idp.oauth.errors import (
    InvalidClient,
    InvalidRequest,
    OAuthError,
)
from idp.oauth.params import Params
from idp.passwords.hashing_threads import HashingBusy
from idp.records import Browser
from idp.service import Service
from storage import StorageError, deadline

BODY_SECONDS: Final = 30
# Of these: a body that takes longer gives way to other requests.
PROMPT_SECONDS: Final = 0.1
_LENGTH: Final = re.compile(r"[0-9]{1,19}")  # RFC 9110 8.6; as many digits as 64 bits hold
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_log = logs.logger(__name__)


class ResponseSent(Finish):
    """Raised after a response has been sent, to end a handler that must do nothing more.

    It is raised by methods that return what the rest of the handler needs, when they send a
    response instead. Tornado ends the request without a log line.
    """


class ServiceApplication(Protocol):
    """The part of the Tornado application that the handlers use."""

    @property
    def service(self) -> Service:
        """The running service."""

    @property
    def admission(self) -> Admission:
        """The places for requests in this process."""

    @property
    def is_draining(self) -> bool:
        """Whether a shutdown has begun."""

    def route(self, path: str) -> str:
        """Returns the template of the route for this path; without one, an empty text."""

    def begin(self, handler: RequestHandler) -> None:
        """Records that a request has begun."""

    def end(self, handler: RequestHandler) -> None:
        """Records that the request has ended."""


@stream_request_body
class Handler(RequestHandler):
    """The base of all endpoints: answers one request. The body is received in chunks, so that its
    size is checked before it is stored."""

    SUPPORTED_METHODS = _METHODS
    group: Group  # whose requests share places in the process
    any_host = False  # the Host header is not checked (health checks, static files)
    request_id = ""
    _query_params: Params | None = None
    _span: RequestSpan | None = None

    @property
    def app(self) -> ServiceApplication:
        return self.application  # type: ignore[return-value]

    @property
    def service(self) -> Service:
        return self.app.service

    def initialize(self) -> None:
        self._chunks: list[bytes] = []
        self._received = 0
        self.place = RequestPlace()
        self._patience: asyncio.TimerHandle | None = None
        self.app.begin(self)

    def on_finish(self) -> None:
        self.place.answered()
        self._end()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self.place.client_left()
        self._end()

    async def _execute(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super()._execute(*args, **kwargs)
        finally:
            self.place.worked()

    def _end(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
        self._end_span()
        self.app.end(self)

    def _end_span(self) -> None:
        span, self._span = self._span, None
        if span is not None and span.is_sampled:
            status = self.get_status() if self._finished else None
            span.end(self.app.route(self.request.path), status)

    def clear(self) -> None:
        """Resets the response as Tornado does, but with this service's default headers only."""
        self._headers = HTTPHeaders()
        self._write_buffer: list[bytes] = []
        self._status_code = 200
        self._reason = HTTPStatus.OK.phrase
        self.set_default_headers()

    def set_default_headers(self) -> None:
        self._headers["Server"] = "idp"
        self._headers["Date"] = _date(int(self.service.clock.now().timestamp()))
        self._headers["X-Content-Type-Options"] = "nosniff"
        self._headers["Referrer-Policy"] = "no-referrer"
        if self.service.config.is_secure:
            self._headers["Strict-Transport-Security"] = "max-age=31536000"
        if self.request_id:
            self._headers["X-Request-Id"] = self.request_id

    def prepare(self) -> Awaitable[None] | None:
        """Assigns the request id, takes a place and calls `admit`. The returned awaitable waits
        for a place, if none is free; in a service started with `--test`, it applies the test
        clock."""
        self._name()
        places = self.app.admission.places_of(self.group)
        if self.place.enter(places, network_key(self.address())) and not self.service.config.test:
            self.admit()
            return None
        return self._admit_in_turn()

    async def _admit_in_turn(self) -> None:
        await self.place.wait(cast(HTTP1Connection, self.request.connection).stream)
        self.admit()
        if self.service.config.test:
            await test_mode.synchronise(self.service)

    def admit(self) -> None:
        """Checks the sizes of the headers and the body, and the Host header. Raises HTTPError."""
        self._check_size()
        if not self.any_host:
            hosts.check(self)
        if hosts.FORWARDED_FOR in self.request.headers:
            hosts.warn_of_proxy(self.service, self.request)
        self._await_body()

    def _name(self) -> None:
        self.request_id = logs.accept_request_id(
            self.request.headers.get("X-Request-Id"), self.service.random
        )
        logs.begin_request(self.request_id, self.request.headers.get("traceparent"))
        request_costs.begin_request()
        deadline.begin()
        self._headers["X-Request-Id"] = self.request_id
        self._span = request_span.begin(self.service.config, self.request, self.request_id)

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Sends an error response. Assigns the request id first if there is none, because Tornado
        refuses an unknown method before `prepare`."""
        if not self.request_id:
            self._name()
        super().send_error(status_code, **kwargs)

    def _check_size(self) -> None:
        config, headers = self.service.config, self.request.headers
        # 4 for the colon, the space and the line end of each line.
        head = sum(len(name) + len(value) + 4 for name, value in headers.get_all())
        if head + len(self.request.uri or "") > config.max_header_bytes:
            raise HTTPError(431, "request headers too large")
        declared = headers.get("Content-Length", "0")
        if not _LENGTH.fullmatch(declared):
            raise HTTPError(400, "Content-Length must be at most 19 digits")
        if int(declared) > self.max_body_bytes:
            raise HTTPError(413, "request body too large")

    def _await_body(self) -> None:
        """Closes the connection when the body has not arrived within `BODY_SECONDS`.

        Tornado's own `body_timeout` creates a task for every body, even for one that arrived
        whole.
        """
        headers = self.request.headers
        # Only a request with one of these has a body (RFC 9112 6).
        if "Content-Length" in headers or "Transfer-Encoding" in headers:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(PROMPT_SECONDS, self._wait_longer)

    def _wait_longer(self) -> None:
        """Gives way to other requests while the body, for which the service is ready, arrives."""
        if self._is_body_late():
            self.wait_for_client()
        loop = asyncio.get_running_loop()
        self._patience = loop.call_later(BODY_SECONDS - PROMPT_SECONDS, self._hang_up)

    def _is_body_late(self) -> bool:
        is_expected = self._prepared_future is not None and self._prepared_future.done()
        return is_expected and not self.request._body_future.done()

    def wait_for_client(self) -> None:
        """Lets other requests have the place until the body has arrived. Before the request is
        answered, it takes another one."""
        name = (self.request.method or "").lower()
        if self.place.give_way():
            setattr(self, name, partial(self._answer_in_turn, getattr(self, name)))

    async def _answer_in_turn(
        self, answer: Callable[..., Awaitable[None] | None], *values: str
    ) -> None:
        await self.place.enter_again()
        answering = answer(*values)
        if answering is not None:
            await answering

    def _wait_anew(self) -> None:
        """Restarts the time limit after a part of a long body has arrived."""
        if self._patience is not None:
            self._patience.cancel()
        self._await_body()

    def _hang_up(self) -> None:
        if not self.request._body_future.done():
            metrics.HTTP_CONNECTIONS_CLOSED.count("slow_body")
            cast(HTTP1Connection, self.request.connection).stream.close()

    @property
    def max_body_bytes(self) -> int:
        """The length of the longest body that this endpoint accepts."""
        return self.service.config.max_form_bytes

    def data_received(self, chunk: bytes) -> None:
        self._received += len(chunk)
        # Beyond the limit the body is only counted, so that it takes no memory.
        if self._received <= self.max_body_bytes:
            self._chunks.append(chunk)

    @property
    def body(self) -> bytes:
        """The whole body of the request. Raises HTTPError 413 if it is too large."""
        self._check_received()
        return b"".join(self._chunks)

    def _check_received(self) -> None:
        if self._received > self.max_body_bytes:
            raise HTTPError(413, "request body too large")

    def finish(self, chunk: str | bytes | dict[str, Any] | None = None) -> Future[None]:
        """Sends the response, with `Connection: close` if the server will close the connection.

        It does so during a shutdown, and if the body, even an empty one, has not been read
        completely. Without the header, the client would lose its next request on the connection.
        """
        if self.app.is_draining or not self.request._body_future.done():
            self.set_header("Connection", "close")
        return super().finish(chunk)

    def flush(self, include_footers: bool = False) -> Future[None]:
        """Sends what was written of the response. The deadline is for its beginning only."""
        deadline.end()
        return super().flush(include_footers)

    def query_params(self) -> Params:
        """Returns the query parameters. Raises InvalidRequest if they are malformed or too
        many."""
        if self._query_params is None:
            self._query_params = params.parse(self.request.query.encode("latin-1", "replace"))
        return self._query_params

    def form_params(self) -> Params:
        """Returns the parameters of a form body. Raises InvalidRequest if the body is no valid
        form or the address has query parameters."""
        if self.request.query:
            raise InvalidRequest("parameters belong into the body of a POST, not its address")
        return params.parse_form(self.request.headers.get("Content-Type"), self.body)

    def address(self) -> str:
        """Returns the client's IP address, for logs and rate limits."""
        return hosts.client_address(self.service.config, self.request)

    def origin(
        self, browser: Browser | None = None, client_id: str | None = None
    ) -> AttemptOrigin:
        """Returns where a rate-limited request, such as an attempt to authenticate, comes from:
        its address, with the browser's record and the client id as far as the caller passes
        them."""
        is_shared = hosts.is_untrusted_proxy(self.service.config, self.request)
        return AttemptOrigin(self.address(), browser, client_id, is_shared)

    def allowed_methods(self) -> list[str]:
        """Returns the HTTP methods that this endpoint supports, for the header Allow (RFC 9110
        15.5.6)."""
        missing = RequestHandler.get
        return [m for m in _METHODS if getattr(type(self), m.lower()) is not missing]

    def log_exception(self, kind: Any, error: Any, traceback: Any) -> None:
        """Logs why a request failed: a refusal in one line, an internal failure with its
        traceback."""
        if isinstance(error, Shed):
            admission.report(error)
        elif isinstance(error, StorageError | Busy):
            if isinstance(error, HashingBusy):
                metrics.SHED.count(self.group.name, "hashing")
            _log.warning("refused", error=type(error).__name__, cause=str(error))
        elif isinstance(error, OAuthError):
            cause = error.reason if isinstance(error, InvalidClient) else error.description
            _log.info("refused", error=error.code, cause=cause)
        elif isinstance(error, IdpError):
            _log.info("refused", error=error.error_code, cause=error.message)
        elif not isinstance(error, HTTPError):
            _log.error("failed", exc_info=(kind, error, traceback))

    def answer(self, body: object) -> None:
        """Sends `body` as JSON."""
        self._headers["Content-Type"] = "application/json"
        self.finish(msgspec.json.encode(body))

    def answer_error(self, error: OAuthError) -> None:
        """Sends an error as JSON (RFC 6749 5.2) with the headers that its status requires."""
        self.set_error_status(error)
        self.answer(error.body())

    def set_error_status(self, error: OAuthError) -> None:
        self.set_status(error.status)
        if error.status == 405:
            self.set_header("Allow", ", ".join(self.allowed_methods()))
        if error.retry_after_seconds is not None:
            self.set_header("Retry-After", str(error.retry_after_seconds))

    def compute_etag(self) -> str | None:
        # Only handlers that compute a tag have one: Tornado would hash every response.
        return None

    def check_etag_header(self) -> bool:
        return "Etag" in self._headers and super().check_etag_header()


@lru_cache(maxsize=1)
def _date(seconds: int) -> str:
    """Returns the value of the header Date (RFC 9110 6.6.1), cached for the current second."""
    return format_timestamp(seconds)


class ProtocolHandler(Handler):
    """The base of the endpoints for OAuth clients, which receive forms and answer in JSON.
    Responses are not cached."""

    group = admission.PROTOCOL
    challenge = 'Basic realm="idp", charset="UTF-8"'

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self._headers["Cache-Control"] = "no-store"
        self._headers["Pragma"] = "no-cache"

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = as_oauth_error(kwargs.get("exc_info", (None, None))[1])
        challenge = self.challenge_for(error)
        if challenge is not None:
            self.set_header("WWW-Authenticate", challenge)
        self.answer_error(error)

    def challenge_for(self, error: OAuthError) -> str | None:
        """Returns the value of WWW-Authenticate for an error, or None for an error that needs
        none."""
        return self.challenge if error.status == 401 else None
