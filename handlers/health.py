"""GET /healthz and /readyz: health checks for load balancers and supervisors, for any host."""

from __future__ import annotations

from handlers.http.base import ProtocolHandler
from idp.limits.admission import HEALTH


class HealthHandler(ProtocolHandler):
    """Answers with 200 while the process runs."""

    group = HEALTH
    any_host = True

    async def get(self) -> None:
        self.answer({"status": "ok"})

    head = get


class ReadyHandler(ProtocolHandler):
    """Answers with 200 if the store can be read and no shutdown has begun.

    A store that cannot be written to is reported in the body with status 200: all processes share
    the store, so removing one from a load balancer would not help, and reading requests still
    work.
    """

    group = HEALTH
    any_host = True

    async def get(self) -> None:
        if self.app.is_draining:
            self.set_status(503)
            self.answer({"status": "draining"})
            return
        store = self.service.store
        await store.ping()
        restriction = {"store": "read-only"} if store.is_read_only else {}
        self.answer({"status": "ok", **restriction})

    head = get


ROUTES = [
    ("/healthz", HealthHandler),
    ("/readyz", ReadyHandler),
    ("/debug/healthz", HealthHandler),
    ("/debug/ready", ReadyHandler),
]
