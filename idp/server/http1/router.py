"""The part of Tornado's application that a connection uses."""

from __future__ import annotations

from typing import Protocol

from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest


class Router(Protocol):
    """Tornado's application, which has the handlers.

    If it has an attribute `refuses_requests` that is true, its handlers also receive malformed
    requests, and answer them with the error in the request's `refusal`.
    """

    def find_handler(self, request: HTTPServerRequest) -> HTTPMessageDelegate | None:
        """Returns the delegate that receives the request."""
