"""Metrics of requests that were answered."""

from __future__ import annotations

from typing import Final

from tornado.web import RequestHandler

from idp.foundation import metrics
from idp.foundation.metrics import request_costs

_METHODS: Final = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE"))


def answered(handler: RequestHandler, endpoint: str) -> None:
    """Counts a request that was answered at this endpoint."""
    if not metrics.process_name():
        return
    request = handler.request
    method = request.method if request.method in _METHODS else "other"
    metrics.HTTP_REQUESTS.count(endpoint, method or "other", str(handler.get_status()))
    metrics.HTTP_REQUEST_DURATION.observe(request.request_time(), endpoint)
    metrics.STORE_COMMANDS_PER_REQUEST.observe(request_costs.commands(), endpoint)
