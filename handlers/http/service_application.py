"""The part of the Tornado application that handlers use."""

from __future__ import annotations

from typing import Protocol

from tornado.web import RequestHandler

from idp.foundation.randomness import Random
from idp.limits.admission import Admission
from idp.service import Service


class ServiceApplication(Protocol):
    """The part of the Tornado application that the handlers use."""

    @property
    def service(self) -> Service:
        """The running service."""

    @property
    def admission(self) -> Admission:
        """The slots for requests in this process."""

    @property
    def request_ids(self) -> Random:
        """The source of the ids of requests."""

    @property
    def is_draining(self) -> bool:
        """Whether a shutdown has begun."""

    def route(self, path: str) -> str:
        """Returns the template of this path's route; an empty text if the path has no route."""

    def begin(self, handler: RequestHandler) -> None:
        """Records that a request has begun."""

    def end(self, handler: RequestHandler) -> None:
        """Records that the request has ended."""
