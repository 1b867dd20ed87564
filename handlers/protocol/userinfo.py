"""GET and POST /oidc/v1/userinfo: the claims about the user of an access token."""

from __future__ import annotations

from handlers.http.cors import SharedHandler
from handlers.http.protocol_errors import bearer_challenge
from handlers.protocol.error_recording import RefusingHandler
from idp.oauth.endpoints import userinfo
from idp.oauth.errors import InvalidRequest, OAuthError
from idp.oauth.params import Params
from idp.oauth.paths import USERINFO
from idp.oauth.refusals.check import FORM
from idp.oauth.refusals.userinfo import TOKEN_PLACE


class UserinfoHandler(RefusingHandler, SharedHandler):
    """The UserInfo endpoint (OpenID Connect Core 5.3). A token in the query string is refused
    (RFC 9700 4.3.2)."""

    endpoint = "userinfo"

    def admit(self) -> None:
        super().admit()
        with TOKEN_PLACE:
            if "access_token" in self.query_params():
                raise InvalidRequest("the token belongs into the Authorization header")

    async def get(self) -> None:
        await self._answer(Params())

    async def post(self) -> None:
        await self._answer(self._form())

    def _form(self) -> Params:
        """Returns the parameters of the body. With an Authorization header the token is not
        expected there, so a body that is no form is ignored."""
        has_header = "Authorization" in self.request.headers
        has_form = self.body or (self.request.headers.get("Content-Type") and not has_header)
        with FORM:
            try:
                return self.form_params() if has_form else Params()
            except InvalidRequest:
                if has_header:
                    return Params()
                raise

    async def _answer(self, form: Params) -> None:
        authorization = self.request.headers.get("Authorization")
        # CORS needs the token's client before any error is answered.
        if self.is_shared:
            client_id = await userinfo.client_of(self.service, authorization, form)
            await self.share_only_for(client_id)
        self.answer(await userinfo.respond(self.service, authorization, form))

    def challenge_for(self, error: OAuthError) -> str | None:
        return bearer_challenge(error)


ROUTES = [(USERINFO, UserinfoHandler)]
