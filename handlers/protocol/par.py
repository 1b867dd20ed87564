"""POST /oauth/v2/par: a client pushes an authorization request."""

from __future__ import annotations

from handlers.protocol.client_endpoint import ClientHandler
from idp.oauth.endpoints import pushed_authorization
from idp.oauth.paths import PAR


class PushHandler(ClientHandler):
    """The pushed authorization request endpoint (RFC 9126 2)."""

    endpoint = "par"

    async def post(self) -> None:
        params = await self.client_form()
        authorization = self.request.headers.get("Authorization")
        pushed = await pushed_authorization.push(
            self.service, authorization, params, self.record_refusal, self.origin()
        )
        self.set_status(201)
        self.answer(pushed)


ROUTES = [(PAR, PushHandler)]
