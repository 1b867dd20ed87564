"""GET /healthz and /readyz: for load balancers and supervisors, whatever host they ask for."""

from __future__ import annotations

from handlers.base import ProtocolHandler


class HealthHandler(ProtocolHandler):
    """This process runs."""

    any_host = True

    async def get(self) -> None:
        self.answer({"status": "ok"})

    head = get


class ReadyHandler(ProtocolHandler):
    """This process can serve: the store answers, and no shutdown has begun."""

    any_host = True

    async def get(self) -> None:
        if self.app.is_draining:
            self.set_status(503)
            self.answer({"status": "draining"})
            return
        await self.service.store.ping()
        self.answer({"status": "ok"})

    head = get


ROUTES = [
    ("/healthz", HealthHandler),
    ("/readyz", ReadyHandler),
    ("/debug/healthz", HealthHandler),
    ("/debug/ready", ReadyHandler),
]
