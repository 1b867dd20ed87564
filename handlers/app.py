"""All routes of the service, and the Tornado application that serves them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import cache
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.routing import URLSpec
from tornado.web import Application, RequestHandler

from handlers import account, api, asset_uploads, console, health
from handlers.events import stream as event_stream
from handlers.http import hosts, request_metrics, route_templates
from handlers.http.base import Handler
from handlers.http.endpoint_names import endpoint_name
from handlers.http.slim_handler import HandlerDelegate
from handlers.login import accounts as accounts_page
from handlers.login import (
    change_password,
    connection_test,
    consent,
    factor_enrolment,
    factors,
    idp_account,
    name,
    not_allowed,
    organization,
    passkey,
    passkey_enrol,
    password,
    providers,
    register,
    reset,
    reset_link,
    setup_link,
    verify_address,
    verify_email,
)
from handlers.login import device as device_page
from handlers.login import logout as logout_page
from handlers.pages import (
    branding_files,
    demo,
    docs,
    held_mail,
    not_found,
    openapi,
    static_handler,
    test_mode,
)
from handlers.protocol import (
    authorize,
    device,
    discovery,
    end_session,
    introspect,
    jwks,
    par,
    token,
    userinfo,
)
from idp.api import OPERATIONS
from idp.foundation import logs
from idp.foundation.metrics import request_costs
from idp.foundation.randomness import BufferedRandom
from idp.limits.admission import HEALTH, Admission
from idp.service import Service

Route = tuple[str, type[RequestHandler]] | tuple[str, type[RequestHandler], dict[str, Any]]

# Characters that occur only in a pattern, not in a fixed address.
_PATTERN_CHARACTERS = frozenset("()[]*+?|\\^$")

ROUTES: list[Route] = [
    *discovery.ROUTES,
    *authorize.ROUTES,
    *par.ROUTES,
    *device.ROUTES,
    *token.ROUTES,
    *introspect.ROUTES,
    *userinfo.ROUTES,
    *jwks.ROUTES,
    *end_session.ROUTES,
    *name.ROUTES,
    *password.ROUTES,
    *accounts_page.ROUTES,
    *consent.ROUTES,
    *not_allowed.ROUTES,
    *providers.ROUTES,
    *idp_account.ROUTES,
    *device_page.ROUTES,
    *change_password.ROUTES,
    *account.ROUTES,
    *setup_link.ROUTES,
    *organization.ROUTES,
    *register.ROUTES,
    *reset.ROUTES,
    *reset_link.ROUTES,
    *connection_test.ROUTES,
    *verify_email.ROUTES,
    *passkey.ROUTES,
    *passkey_enrol.ROUTES,
    *factors.ROUTES,
    *factor_enrolment.ROUTES,
    *verify_address.ROUTES,
    *logout_page.ROUTES,
    *health.ROUTES,
    *static_handler.ROUTES,
    *branding_files.ROUTES,
    *openapi.ROUTES,
    *docs.ROUTES,
    *event_stream.ROUTES,  # before the API's own route of that path
    *api.routes(OPERATIONS),
    *asset_uploads.ROUTES,
    *console.ROUTES,
]

# Served only if the issuer is a loopback address.
LOCAL_ROUTES: list[Route] = [*demo.ROUTES, *held_mail.ROUTES]

# If the issuer is a loopback address, these are served only to connections from this machine.
_FOR_LOCAL_PEERS = frozenset(
    path for path, *_ in [*LOCAL_ROUTES, *test_mode.ROUTES, *setup_link.ROUTES]
)


@cache
def _addresses(is_loopback: bool, is_test: bool) -> tuple[dict[str, list[Any]], list[URLSpec]]:
    """Returns the handlers of the fixed addresses, and the patterns of the others."""
    local = LOCAL_ROUTES if is_loopback else []
    routes: list[Route] = [*ROUTES, *local, *(test_mode.ROUTES if is_test else []), *api.ROUTES]
    # Of two routes with the same path the first is used, as in Tornado.
    fixed = {
        path: route_values
        for path, *route_values in reversed(routes)
        if not _PATTERN_CHARACTERS & set(path)
    }
    return fixed, [URLSpec(*route) for route in routes if _PATTERN_CHARACTERS & set(route[0])]


class App(Application):
    """The Tornado application: the routes of one running service, and its requests in progress."""

    refuses_requests = True  # each handler answers malformed requests in its own form

    def __init__(self, service: Service) -> None:
        self.service = service
        self.admission = Admission(service.random, service.timer)
        self.request_ids = BufferedRandom(service.random)
        self.is_draining = False
        self._in_progress: set[RequestHandler] = set()
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        is_loopback = service.config.is_loopback
        self._fixed, self._patterns = _addresses(is_loopback, service.config.test)
        self._for_local_peers = _FOR_LOCAL_PEERS if is_loopback else frozenset()
        super().__init__(
            self._patterns, default_handler_class=not_found.MissingHandler, log_function=log_access
        )

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> Any:
        """Returns the handler for a request's path; `kwargs` are Tornado's other arguments. Fixed
        paths are looked up in a table, which saves matching most requests against every
        pattern."""
        fixed = self._fixed.get(request.path)
        if fixed is None:
            return super().find_handler(request, **kwargs)
        if request.path in self._for_local_peers and not hosts.is_local_peer(request):
            return self.get_handler_delegate(request, not_found.MissingHandler)
        return self.get_handler_delegate(request, *fixed)

    def get_handler_delegate(
        self,
        request: HTTPServerRequest,
        target_class: Any,
        target_kwargs: dict[str, Any] | None = None,
        path_args: list[bytes] | None = None,
        path_kwargs: dict[str, bytes] | None = None,
    ) -> Any:
        """Returns the delegate that has a handler of this class answer the request."""
        return HandlerDelegate(
            self, request, target_class, target_kwargs or {}, path_args or (), path_kwargs or {}
        )

    def route(self, path: str) -> str:
        """Returns the template of the route for this path; without one, an empty text."""
        return route_templates.of_path(path, self._fixed, self._patterns)

    def begin(self, handler: RequestHandler) -> None:
        """Adds the handler to the requests in progress, until `end` removes it."""
        self._in_progress.add(handler)
        self._is_idle.clear()

    def end(self, handler: RequestHandler) -> None:
        self._in_progress.discard(handler)
        if not self._in_progress:
            self._is_idle.set()

    async def drained(self, seconds: float) -> None:
        """Waits until no request is in progress, but at most `seconds`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_idle.wait(), seconds)


def log_access(handler: Any) -> None:
    """Writes the access log's line for a request that a `Handler` has answered. Those refused for
    overload have none: they would hide the others."""
    handler_class: Any = type(handler)
    endpoint = endpoint_name(handler_class)
    request_metrics.answered(handler, endpoint)
    if handler.slot.is_refused and not handler.is_sent_in_parts:
        return
    request = handler.request
    logs.access(
        request.method or "",
        request.path,
        handler.get_status(),
        request.request_time(),
        level=_access_level(handler),
        address=handler.address(),
        endpoint=endpoint,
        **({"aborted": True} if handler.is_aborted else {}),
        **request_costs.log_fields(),
    )


def _access_level(handler: Handler) -> str:
    """Returns the level of a request's line: of a health check that holds, it is debug, because
    the probes of a balancer would be most of the log."""
    return "debug" if handler.group is HEALTH and handler.get_status() < 400 else "info"
