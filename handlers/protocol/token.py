"""POST /oauth/v2/token: exchanges a grant for tokens."""

from __future__ import annotations

from handlers.http.cors import SharedHandler
from handlers.protocol.error_recording import RefusingHandler
from idp.oauth import grants
from idp.oauth.grants import lost_answers
from idp.oauth.paths import TOKEN
from idp.oauth.refusals.check import FORM


class TokenHandler(RefusingHandler, SharedHandler):
    """The token endpoint (RFC 6749 3.2)."""

    endpoint = "token"

    async def post(self) -> None:
        with FORM:
            params = self.form_params()
        await self.share_only_for_sender(params)
        authorization = self.request.headers.get("Authorization")
        response = await grants.respond(self.service, authorization, params)
        if self.is_aborted and response.if_lost:
            lost_answers.record(self.service, response.if_lost)
        self.answer(response.body)


ROUTES = [(TOKEN, TokenHandler)]
