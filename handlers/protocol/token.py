"""POST /oauth/v2/token: exchanges a grant for tokens."""

from __future__ import annotations

from handlers.protocol.client_endpoint import ClientHandler
from idp.oauth import grants
from idp.oauth.grants import lost_answers
from idp.oauth.paths import TOKEN


class TokenHandler(ClientHandler):
    """The token endpoint (RFC 6749 3.2)."""

    endpoint = "token"

    async def post(self) -> None:
        params = await self.client_form()
        authorization = self.request.headers.get("Authorization")
        response = await grants.respond(self.service, authorization, params)
        if self.is_aborted and response.if_lost:
            lost_answers.record(self.service, response.if_lost)
        self.answer(response.body)


ROUTES = [(TOKEN, TokenHandler)]
