"""The span of a request, where traces are on."""

from __future__ import annotations

from tornado.httputil import HTTPServerRequest

from handlers.http import hosts
from idp.config.settings import Config
from idp.foundation import logs, tracing
from idp.foundation.tracing import RequestSpan


def begin(config: Config, request: HTTPServerRequest, request_id: str) -> RequestSpan | None:
    """Begins the span of a request, to which its log lines then refer; None without traces."""
    if not tracing.is_on():
        return None
    span = tracing.begin_request(
        request_id,
        request.method or "",
        request.headers.get("traceparent"),
        is_trusted=hosts.is_from_trusted_proxy(config, request),
    )
    if span is not None:
        logs.bind(trace_id=span.trace_id, span_id=span.span_id)
    return span
