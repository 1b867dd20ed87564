"""Traces: OpenTelemetry spans of requests and of what they wait for.

`start` turns them on for this process; until then, and without the extra `otel`, every function
here returns immediately. Spans hold what the functions here take and nothing else: no user, login
name, address, query, body, token or header.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from idp.foundation.tracing import trace_parent
from idp.foundation.tracing.trace_parent import Attributes
from storage import Observer

if TYPE_CHECKING:
    from idp.foundation.tracing.spans import Spans

_METHODS: Final = frozenset(
    {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
)
# The span of the request that this task answers, and the innermost one: sampled ones only.
_request: Final[ContextVar[Any]] = ContextVar("request span", default=None)
_current: Final[ContextVar[Any]] = ContextVar("current span", default=None)
# Which attempt at a delivery the current task makes.
_attempt: Final[ContextVar[int]] = ContextVar("attempt", default=1)


class _ProcessTraces:
    """The traces of this process."""

    spans: Spans | None = None
    observers: Sequence[Observer] = ()


class RequestSpan:
    """The span of a request, until `end`. `trace_id` and `span_id` are hexadecimal."""

    def __init__(self, span: Any, method: str) -> None:
        context = span.get_span_context()
        self.trace_id = f"{context.trace_id:032x}"
        self.span_id = f"{context.span_id:016x}"
        self.is_sampled: bool = span.is_recording()
        self._span = span
        self._method = method

    def end(self, route: str, status: int | None) -> None:
        """Ends the span of a request to this route. `status` is that of the response; None if the
        client disconnected before it.
        """
        if not self.is_sampled:
            return
        self._span.update_name(f"{self._method} {route}".rstrip())
        if route:
            self._span.set_attribute("http.route", route)
        if status is None:
            self._span.set_attribute("error.type", "disconnected")
        else:
            self._span.set_attribute("http.response.status_code", status)
            if status >= 500:
                fail(self._span, str(status))
        self._span.end()


class Work:
    """A piece of work within a request or a job, with its span. The attributes that are set on it
    are those of the span; without traces, nothing happens."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def set(self, name: str, value: str | float) -> None:
        if self._span is not None:
            self._span.set_attribute(name, value)

    def fail(self, kind: str) -> None:
        """Marks the work as failed, with this kind of error."""
        if self._span is not None:
            fail(self._span, kind)


_UNTRACED: Final = Work()


def is_installed() -> bool:
    """Returns whether the libraries of the extra `otel` are installed."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def use(spans: Spans | None, observers: Sequence[Observer] = ()) -> None:
    """Turns traces on for this process, with the observers that its store gets for them, or off
    with None."""
    _ProcessTraces.spans, _ProcessTraces.observers = spans, observers


def is_on() -> bool:
    """Returns whether this process makes traces."""
    return _ProcessTraces.spans is not None


def observers() -> Sequence[Observer]:
    """Returns the observers that a store has to get for its spans: none without traces."""
    return _ProcessTraces.observers


def begin_request(
    request_id: str, method: str, traceparent: str | None, *, is_trusted: bool
) -> RequestSpan | None:
    """Begins the span of a request, to which the work of this task belongs from now on; returns
    None without traces.

    For a trusted caller, the request continues the trace in `traceparent` and is sampled if that
    is. For any other, a new trace begins with a link to it: an untrusted caller can't decide
    what is sampled.
    """
    if _ProcessTraces.spans is None:
        return None
    span_name = method if method in _METHODS else "_OTHER"
    span = _ProcessTraces.spans.server(
        span_name, request_id, trace_parent.parse(traceparent), is_trusted=is_trusted
    )
    request_span = RequestSpan(span, span_name if span_name != "_OTHER" else "HTTP")
    _request.set(span if request_span.is_sampled else None)
    _current.set(span if request_span.is_sampled else None)
    return request_span


@contextmanager
def internal(name: str, attributes: Attributes | None = None) -> Iterator[Work]:
    """Measures work of this process within the current trace; has no effect outside of one."""
    parent = _current.get()
    if _ProcessTraces.spans is None or parent is None:
        yield _UNTRACED
        return
    with _within(_ProcessTraces.spans.internal(name, parent, attributes)) as work:
        yield work


@contextmanager
def call(name: str, host: str) -> Iterator[Work]:
    """Measures a call of another server; outside of a trace, it may begin one."""
    if _ProcessTraces.spans is None:
        yield _UNTRACED
        return
    attributes: Attributes = {"server.address": host, "idp.attempt": _attempt.get()}
    with _within(_ProcessTraces.spans.client(name, _current.get(), attributes)) as work:
        yield work


@contextmanager
def attempt(number: int) -> Iterator[None]:
    """Within the block, the spans of calls have this number of the attempt; 1 is the first."""
    token = _attempt.set(number)
    try:
        yield
    finally:
        _attempt.reset(token)


@contextmanager
def _within(span: Any) -> Iterator[Work]:
    token = _current.set(span if span.is_recording() else None)
    try:
        yield Work(span)
    except BaseException as error:
        fail(span, type(error).__name__)
        raise
    finally:
        _current.reset(token)
        span.end()


def fail(span: Any, kind: str) -> None:
    """Marks a span as failed with this kind of error."""
    if _ProcessTraces.spans is not None:
        _ProcessTraces.spans.fail(span, kind)


def record_client(client_id: str) -> None:
    """Adds the client of the request, which must be a known one, to its span."""
    _record("idp.client_id", client_id)


def record_refusal(check: str) -> None:
    """Adds the name of the check that refused the request to its span."""
    _record("idp.refused.check", check)


def _record(name: str, value: str) -> None:
    span = _request.get()
    if span is not None:
        span.set_attribute(name, value)


def headers() -> dict[str, str]:
    """Returns the header by which a server of the operator's own continues the current trace; it
    must not be sent to others.
    """
    span = _current.get()
    if span is None:
        return {}
    context = span.get_span_context()
    return {"traceparent": f"00-{context.trace_id:032x}-{context.span_id:016x}-01"}


def current() -> Any:
    """Returns the innermost span of the current task that is sampled, or None."""
    return _current.get()
