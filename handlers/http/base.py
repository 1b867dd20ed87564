"""The base handlers: size limits, request ids, headers, and the mapping of errors to responses.

`Handler` is the base of every endpoint; `ProtocolHandler` answers OAuth clients in JSON. Pages
have their base in `handlers/pages/base.py`, the management API has its own in `handlers/api.py`.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from typing import Any, Final

import msgspec
from tornado.httputil import HTTPServerRequest, format_timestamp
from tornado.web import Finish, HTTPError, RequestHandler, stream_request_body

from handlers.http import client_connection, forwarding, hosts, params, request_span
from handlers.http.protocol_errors import as_oauth_error
from handlers.http.request_slot import RequestSlot
from handlers.http.service_application import ServiceApplication
from handlers.http.slim_handler import SlimHandler
from idp import test_mode
from idp.foundation import logs, metrics
from idp.foundation.errors import Busy, IdpError
from idp.foundation.metrics import request_costs
from idp.foundation.network_keys import client_key
from idp.foundation.tracing import RequestSpan
from idp.limits import admission
from idp.limits.admission import Overloaded, RequestGroup
from idp.limits.origin import AttemptOrigin
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
# A request whose body takes longer gives its slot to other requests meanwhile.
PROMPT_SECONDS: Final = 0.1
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_log = logs.logger(__name__)


class ResponseSent(Finish):
    """Raised after a response has been sent, to end a handler that must do nothing more.

    It is raised by methods that return what the rest of the handler needs, when they send a
    response instead. Tornado ends the request without a log line.
    """


@stream_request_body
class Handler(SlimHandler):
    """The base of all endpoints: answers one request. The body is received in chunks, so that its
    size is checked before it is stored."""

    SUPPORTED_METHODS = _METHODS
    group: RequestGroup  # whose requests share slots in the process
    any_host = False  # the Host header is not checked (health checks, static files)
    request_id = ""
    is_aborted = False  # the connection ended before the response was complete
    is_sent_in_parts = False
    _query_params: Params | None = None
    _span: RequestSpan | None = None

    def __init__(self, application: Any, request: HTTPServerRequest, **kwargs: Any) -> None:
        self.app: ServiceApplication = application
        self.service: Service = self.app.service
        super().__init__(application, request, **kwargs)

    def initialize(self) -> None:
        self._chunks: list[bytes] = []
        self._received_bytes = 0
        self.slot = RequestSlot()
        self._body_timer: asyncio.TimerHandle | None = None
        self.app.begin(self)

    def on_finish(self) -> None:
        self.slot.response_sent()
        self._end()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self.is_aborted = True
        self.slot.client_disconnected()
        self._end()

    async def _execute(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super()._execute(*args, **kwargs)
        finally:
            self.slot.handler_done()

    def _end(self) -> None:
        if self._body_timer is not None:
            self._body_timer.cancel()
        self._end_span()
        self.app.end(self)

    def _end_span(self) -> None:
        span, self._span = self._span, None
        if span is not None and span.is_sampled:
            status = self.get_status() if self._finished else None
            span.end(self.app.route(self.request.path), status)

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
        """Assigns the request id, takes a slot and calls `admit`. The returned awaitable waits
        for a slot, if none is free; in a service started with `--test`, it applies the test
        clock."""
        self._begin_request()
        slots = self.app.admission.slots_of(self.group)
        if self.slot.enter(slots, client_key(self.address())) and not self.service.config.test:
            self.admit()
            return None
        return self._wait_and_admit()

    async def _wait_and_admit(self) -> None:
        await self.slot.wait()
        self.admit()
        if self.service.config.test:
            await test_mode.synchronise(self.service)

    def admit(self) -> None:
        """Checks the sizes of the headers and the body, and the Host header. Raises HTTPError,
        also if the server could not read the request."""
        refusal = client_connection.refusal(self.request)
        if refusal is not None:
            raise refusal
        self._check_size()
        if not self.any_host:
            hosts.check(self)
        if forwarding.is_forwarded(self.request.headers):
            hosts.warn_of_proxy(self.service, self.request)
        self._start_body_timer()

    def _begin_request(self) -> None:
        self.request_id = logs.accept_request_id(
            self.request.headers.get("X-Request-Id"), self.app.request_ids
        )
        logs.begin_request(self.request_id, self.request.headers.get("traceparent"))
        request_costs.begin_request()
        deadline.begin()
        self._headers["X-Request-Id"] = self.request_id
        self._span = request_span.begin(self.service.config, self.request, self.request_id)

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Sends an error response, or aborts the response of which a part was sent. Assigns the
        request id first if there is none, because Tornado refuses an unknown method before
        `prepare`."""
        if not self.request_id:
            self._begin_request()
        if self._headers_written:
            error = kwargs.get("exc_info", (None, None))[1]
            self._abort(503 if isinstance(error, StorageError | Busy) else status_code)
        else:
            super().send_error(status_code, **kwargs)

    def _abort(self, status: int) -> None:
        """Ends the connection within the response, so that the client does not mistake the part
        that was sent for the whole. The access log and the metrics get this status instead."""
        self.is_aborted = True
        metrics.HTTP_CONNECTIONS_CLOSED.count("failed")
        self.set_status(status)
        connection = client_connection.of(self.request)
        connection.set_close_callback(None)  # `finish` reports the end
        connection.close()
        self.finish()

    def _check_size(self) -> None:
        head = client_connection.of(self.request).head
        if head.size > self.service.config.max_header_bytes:
            raise HTTPError(431, "request headers too large")
        if head.length and head.length > self.max_body_bytes:
            raise HTTPError(413, "request body too large")

    def _start_body_timer(self) -> None:
        """Starts the timer that closes the connection if the body has not arrived within
        `BODY_SECONDS`."""
        if not client_connection.of(self.request).has_arrived:
            loop = asyncio.get_running_loop()
            self._body_timer = loop.call_later(PROMPT_SECONDS, self._release_slot)

    def _release_slot(self) -> None:
        """Lets other requests have the slot if the handler waits for the body, and sets the timer
        for the rest of `BODY_SECONDS`. The body is not read before `prepare` is done."""
        loop = asyncio.get_running_loop()
        if not self._is_prepared():
            self._body_timer = loop.call_later(PROMPT_SECONDS, self._release_slot)
            return
        if not self.request._body_future.done():
            self.wait_for_client()
        self._body_timer = loop.call_later(BODY_SECONDS - PROMPT_SECONDS, self._close_slow_body)

    def _is_prepared(self) -> bool:
        """Whether `prepare` is done without a response, so that the body is read."""
        return self._prepared_future is not None and self._prepared_future.done()

    def wait_for_client(self) -> None:
        """Lets other requests have the slot until the body has arrived; then the request waits
        for another slot before the handler's method is called."""
        name = (self.request.method or "").lower()
        if self.slot.yield_slot():
            setattr(self, name, partial(self._wait_and_answer, getattr(self, name)))

    async def _wait_and_answer(
        self, method: Callable[..., Awaitable[None] | None], *values: str
    ) -> None:
        await self.slot.enter_again()
        completion = method(*values)
        if completion is not None:
            await completion

    def _restart_body_timer(self) -> None:
        """Restarts the body's time limit after a part of a long one has arrived."""
        if self._body_timer is not None:
            self._body_timer.cancel()
        self._start_body_timer()

    def _close_slow_body(self) -> None:
        """Closes the connection if the body has not arrived in time."""
        if not self.request._body_future.done():
            metrics.HTTP_CONNECTIONS_CLOSED.count("slow_body")
            client_connection.of(self.request).close()

    @property
    def max_body_bytes(self) -> int:
        """The length of the longest body that this endpoint accepts."""
        return self.service.config.max_form_bytes

    def data_received(self, chunk: bytes) -> None:
        self._received_bytes += len(chunk)
        # Beyond the limit the body is only counted, so that it takes no memory.
        if self._received_bytes <= self.max_body_bytes:
            self._chunks.append(chunk)

    @property
    def body(self) -> bytes:
        """The whole body of the request. Raises HTTPError 413 if it is too large."""
        self._check_received()
        return b"".join(self._chunks)

    def _check_received(self) -> None:
        if self._received_bytes > self.max_body_bytes:
            raise HTTPError(413, "request body too large")

    def finish(self, chunk: str | bytes | dict[str, Any] | None = None) -> Future[None]:
        """Sends the response, with `Connection: close` during a shutdown."""
        if self.app.is_draining:
            self.set_header("Connection", "close")
        deadline.end()
        return super().finish(chunk)

    def flush(self, include_footers: bool = False) -> Future[None]:
        """Sends what was written of the response, and ends the request's deadline, which limits
        the time until the response begins. `include_footers` is of the end of a response of which
        parts were sent."""
        deadline.end()
        self.is_sent_in_parts = self.is_sent_in_parts or not include_footers
        return super().flush(include_footers)

    def query_params(self) -> Params:
        """Returns the query parameters. Raises InvalidRequest (malformed, or too many)."""
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
        return hosts.client(self.service.config, self.request).address

    def origin(
        self,
        browser: Browser | None = None,
        client_id: str | None = None,
        org_id: str | None = None,
    ) -> AttemptOrigin:
        """Returns the origin of a rate-limited request, such as an attempt to authenticate: its
        address, with the browser's record, the client id and the organization as far as the caller
        passes them."""
        is_shared = hosts.is_shared(self.service.config, self.request)
        return AttemptOrigin(self.address(), browser, client_id, org_id, is_shared)

    def allowed_methods(self) -> list[str]:
        """Returns the supported HTTP methods, for the header Allow (RFC 9110 15.5.6)."""
        unsupported = RequestHandler.get
        return [
            method for method in _METHODS if getattr(type(self), method.lower()) is not unsupported
        ]

    def log_exception(self, error_class: Any, error: Any, traceback: Any) -> None:
        """Logs the cause of a failed request: a refusal in one line, a failure with its
        traceback."""
        if isinstance(error, Overloaded):
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
            _log.error("failed", exc_info=(error_class, error, traceback))

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
