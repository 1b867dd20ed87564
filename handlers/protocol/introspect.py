"""POST /oauth/v2/introspect and /oauth/v2/revoke: returns the state of an issued token, and
revokes it."""

from __future__ import annotations

from handlers.protocol.client_endpoint import ClientHandler
from idp.oauth.endpoints import introspection, revocation
from idp.oauth.paths import INTROSPECT, REVOKE


class IntrospectHandler(ClientHandler):
    """The introspection endpoint (RFC 7662 2)."""

    endpoint = "introspect"
    always_unauthorized = True  # RFC 7662 2.3

    async def post(self) -> None:
        params = await self.client_form()
        authorization = self.request.headers.get("Authorization")
        self.answer(await introspection.respond(self.service, authorization, params))


class RevokeHandler(ClientHandler):
    """The revocation endpoint (RFC 7009 2). A successful response has no body."""

    endpoint = "revoke"

    async def post(self) -> None:
        params = await self.client_form()
        await revocation.revoke(self.service, self.request.headers.get("Authorization"), params)
        self.set_header("Content-Type", "application/json")
        self.finish()


ROUTES = [(INTROSPECT, IntrospectHandler), (REVOKE, RevokeHandler)]
