"""The spans themselves, made with OpenTelemetry. Imported only where traces are on."""

from __future__ import annotations

from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from idp.foundation.tracing.trace_parent import Attributes, TraceParent

_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)


class Spans:
    """Makes the spans of a process. They are sampled and exported by the provider."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("idp")

    def server(
        self, method: str, request_id: str, parent: TraceParent | None, *, is_trusted: bool
    ) -> Any:
        """Returns the span of a request; see `idp.foundation.tracing.begin_request`."""
        context, links = Context(), []
        if parent is not None:
            caller = _remote(parent)
            if is_trusted:
                context = set_span_in_context(NonRecordingSpan(caller), context)
            else:
                links.append(Link(caller))
        attributes = {"http.request.method": method, "idp.request_id": request_id}
        return self._tracer.start_span(
            method, context, SpanKind.SERVER, attributes=attributes, links=links
        )

    def internal(self, name: str, parent: Any, attributes: Attributes | None = None) -> Any:
        """Returns a span of work of this process."""
        return self._tracer.start_span(
            name, set_span_in_context(parent, Context()), attributes=attributes
        )

    def client(self, name: str, parent: Any, attributes: Attributes | None = None) -> Any:
        """Returns the span of a call of another server; without `parent`, that of a new trace."""
        context = Context() if parent is None else set_span_in_context(parent, Context())
        return self._tracer.start_span(name, context, SpanKind.CLIENT, attributes=attributes)

    def batch(
        self, parent: Any, linked_spans: list[Any], attributes: Attributes, began: int, ended: int
    ) -> Any:
        """Returns the context of the span of a database command, which lasted from `began` to
        `ended`, in nanoseconds since the epoch; `linked_spans` are the other spans that waited for
        it.
        """
        span = self._tracer.start_span(
            "store.batch",
            set_span_in_context(parent, Context()),
            SpanKind.CLIENT,
            attributes=attributes,
            links=[Link(linked.get_span_context()) for linked in linked_spans],
            start_time=began,
        )
        if "error.type" in attributes:
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)
        return span.get_span_context()

    def fail(self, span: Any, kind: str) -> None:
        """Marks a span as failed with this kind of error."""
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR))


def _remote(parent: TraceParent) -> SpanContext:
    return SpanContext(
        int(parent.trace_id, 16),
        int(parent.span_id, 16),
        is_remote=True,
        trace_flags=_SAMPLED if parent.is_sampled else TraceFlags(TraceFlags.DEFAULT),
    )
