"""POST /oauth/v2/introspect and /oauth/v2/revoke: returns the state of an issued token, and
revokes it."""

from __future__ import annotations

from handlers.http.cors import SharedHandler
from handlers.protocol.error_recording import RefusingHandler
from idp.oauth.endpoints import introspection, revocation
from idp.oauth.paths import INTROSPECT, REVOKE
from idp.oauth.refusals.check import FORM


class IntrospectHandler(RefusingHandler, SharedHandler):
    """The introspection endpoint (RFC 7662 2)."""

    endpoint = "introspect"

    async def post(self) -> None:
        with FORM:
            params = self.form_params()
        await self.share_only_for_sender(params)
        authorization = self.request.headers.get("Authorization")
        self.answer(await introspection.respond(self.service, authorization, params))


class RevokeHandler(RefusingHandler, SharedHandler):
    """The revocation endpoint (RFC 7009 2). A successful response has no body."""

    endpoint = "revoke"

    async def post(self) -> None:
        with FORM:
            params = self.form_params()
        await self.share_only_for_sender(params)
        await revocation.revoke(self.service, self.request.headers.get("Authorization"), params)
        self.set_header("Content-Type", "application/json")
        self.finish()


ROUTES = [(INTROSPECT, IntrospectHandler), (REVOKE, RevokeHandler)]
