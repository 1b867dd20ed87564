"""Metrics of requests that were answered."""

from __future__ import annotations

from typing import Any, Final

from tornado.web import RequestHandler

from handlers.http.endpoint_names import endpoint_name
from idp.foundation import metrics
from idp.foundation.metrics import request_costs

_METHODS: Final = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE"))


def answered(handler: RequestHandler) -> None:
    """Counts a request."""
    if not metrics.process_name():
        return
    handler_class: Any = type(handler)
    request, endpoint = handler.request, endpoint_name(handler_class)
    method = request.method if request.method in _METHODS else "other"
    metrics.HTTP_REQUESTS.count(endpoint, method or "other", str(handler.get_status()))
    metrics.HTTP_REQUEST_DURATION.observe(request.request_time(), endpoint)
    metrics.STORE_COMMANDS_PER_REQUEST.observe(request_costs.commands(), endpoint)
