"""Spans of a store: `store.read` and `store.commit` of each request, and `store.batch` of the
commands that requests share.
"""

from __future__ import annotations

import time
from typing import Any, Final

from idp.foundation import clock, tracing
from idp.foundation.tracing.spans import Spans
from storage import Batch, Conflict, Observer, Stale, Unavailable, Unknown
from storage.observer import Kind

_NAMES: Final = {"read": "store.read", "write": "store.commit"}
_OUTCOMES: Final[dict[type[BaseException], str]] = {
    Conflict: "conflict",
    Stale: "stale",
    Unavailable: "unavailable",
    Unknown: "unknown",
}


class _Call:
    """A call of a store's method in a sampled trace."""

    def __init__(self, span: Any) -> None:
        self.span = span
        self.began = time.perf_counter_ns()
        self.waited: int | None = None  # nanoseconds until its first command was sent


class StoreSpans(Observer):
    """Makes spans of the calls within a sampled trace, and of their commands."""

    def __init__(self, spans: Spans) -> None:
        self._spans = spans

    def began(self, kind: Kind, method: str) -> _Call | None:
        parent = tracing.current()
        if parent is None:
            return None
        attributes = {"idp.store.method": method}
        return _Call(self._spans.internal(_NAMES[kind], parent, attributes))

    def ended(self, call: _Call | None, error: BaseException | None) -> None:
        if call is None:
            return
        lasted = time.perf_counter_ns() - call.began
        waited = call.waited or 0
        call.span.set_attribute("idp.store.waited_ms", waited / 1e6)
        call.span.set_attribute("idp.store.answer_ms", max(0, lasted - waited) / 1e6)
        outcome = "ok" if error is None else _OUTCOMES.get(type(error), "failed")
        call.span.set_attribute("idp.store.outcome", outcome)
        # Callers expect Conflict and Stale.
        if error is not None and not isinstance(error, Conflict | Stale):
            self._spans.fail(call.span, type(error).__name__)
        call.span.end()

    def batch(self, batch: Batch) -> None:
        calls = [call for call in batch.calls if call is not None]
        if not calls:
            return
        # Spans have another clock than the measurement of the batch.
        ended = clock.nanoseconds() - (time.perf_counter_ns() - batch.ended)
        context = self._spans.batch(
            calls[0].span,
            [call.span for call in calls[1:]],
            _attributes(batch),
            ended - (batch.ended - batch.began),
            ended,
        )
        for call in calls:
            call.span.add_link(context)
            if call.waited is None:
                call.waited = max(0, batch.began - call.began)


def _attributes(batch: Batch) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {
        "db.system.name": batch.system,
        "db.operation.name": batch.operation,
    }
    if len(batch.calls) > 1:  # a single one is no batch, by the conventions
        attributes["db.operation.batch.size"] = len(batch.calls)
    if batch.failed is not None:
        attributes["error.type"] = batch.failed
    return attributes
