"""GET /healthz and /readyz: for load balancers and supervisors, whatever host they ask for."""

from __future__ import annotations

from handlers.http.base import ProtocolHandler


class HealthHandler(ProtocolHandler):
    """This process runs."""

    any_host = True

    async def get(self) -> None:
        self.answer({"status": "ok"})

    head = get


class ReadyHandler(ProtocolHandler):
    """This process can serve: the store can be read, and no shutdown has begun.

    A store that can't be written to is told in the body, and takes no process out of a balancer:
    the others have the same store, and what only reads can still be answered.
    """

    any_host = True

    async def get(self) -> None:
        if self.app.is_draining:
            self.set_status(503)
            self.answer({"status": "draining"})
            return
        store = self.service.store
        await store.ping()
        limited = {"store": "read-only"} if store.is_read_only else {}
        self.answer({"status": "ok", **limited})

    head = get


ROUTES = [
    ("/healthz", HealthHandler),
    ("/readyz", ReadyHandler),
    ("/debug/healthz", HealthHandler),
    ("/debug/ready", ReadyHandler),
]
