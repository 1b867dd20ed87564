"""POST /oauth/v2/par: a client pushes an authorization request."""

from __future__ import annotations

from handlers.http.cors import SharedHandler
from handlers.protocol.error_recording import RefusingHandler
from idp.oauth.endpoints import pushed_authorization
from idp.oauth.paths import PAR
from idp.oauth.refusals.check import FORM


class PushHandler(RefusingHandler, SharedHandler):
    """The pushed authorization request endpoint (RFC 9126 2)."""

    endpoint = "par"

    async def post(self) -> None:
        with FORM:
            params = self.form_params()
        await self.share_only_for_sender(params)
        authorization = self.request.headers.get("Authorization")
        pushed = await pushed_authorization.push(
            self.service, authorization, params, self.record_refusal, self.origin()
        )
        self.set_status(201)
        self.answer(pushed)


ROUTES = [(PAR, PushHandler)]
