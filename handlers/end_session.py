"""GET and POST /oidc/v1/end_session (OpenID Connect RP-Initiated Logout)."""

from __future__ import annotations

from handlers.login.logout import LOGOUT, done
from handlers.page import PageHandler
from idp.oauth import logout, responses
from idp.oauth.discovery import END_SESSION
from idp.oauth.errors import InvalidRequest, Unusable
from idp.oauth.id_tokens import Hint
from idp.oauth.params import Params


class EndSessionHandler(PageHandler):
    """With a valid hint its session ends at once; without one the person is asked."""

    async def get(self) -> None:
        await self._respond(is_post=False)

    async def post(self) -> None:
        await self._respond(is_post=True)

    async def _respond(self, *, is_post: bool) -> None:
        try:
            params = self._params(is_post)
            self.ui_locales = params.if_once("ui_locales")
            asked = await logout.read(self.service, params)
        except Unusable as refusal:
            await self.explain(refusal)
            return
        if asked.hint is None or not await self._end(asked.hint):
            request_id = await logout.store(self.service, asked)
            self.see(responses.append(LOGOUT, [("request", request_id)]))
        else:
            self.see(done(asked.request))

    async def _end(self, hint: Hint) -> bool:
        """End what the hint names; whether nobody has to be asked any more."""
        ended = await logout.end_hinted(self.service, hint, await self.find_agent())
        self.keep_cookie(ended.cookie)
        return ended.is_enough

    def _params(self, is_post: bool) -> Params:
        try:
            is_form = is_post and (self.body or self.request.headers.get("Content-Type"))
            return self.form_params() if is_form else self.query_params()
        except InvalidRequest as error:
            raise Unusable("request_malformed", error.description) from error


ROUTES = [(END_SESSION, EndSessionHandler)]
