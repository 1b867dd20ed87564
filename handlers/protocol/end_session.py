"""GET and POST /oidc/v1/end_session (OpenID Connect RP-Initiated Logout)."""

from __future__ import annotations

from handlers.http import browser
from handlers.login.logout import LOGOUT, HintHandler, result_url
from handlers.protocol.error_recording import RefusingHandler
from idp.foundation import uris
from idp.oauth.endpoints import end_session
from idp.oauth.errors import InvalidRequest, UnusableRequest
from idp.oauth.params import Params
from idp.oauth.paths import END_SESSION
from idp.oauth.refusals.check import FORM
from idp.records import LogoutRequest


class EndSessionHandler(RefusingHandler, HintHandler):
    """The logout endpoint. If the request has a valid `id_token_hint`, its user is signed out of
    this browser immediately; otherwise the person is asked for confirmation."""

    endpoint = "end_session"

    async def get(self) -> None:
        await self._respond(is_post=False)

    async def post(self) -> None:
        await self._respond(is_post=True)

    async def _respond(self, *, is_post: bool) -> None:
        try:
            params = self._params(is_post)
            self.ui_locales = params.if_once("ui_locales")
            request = await end_session.read(self.service, params)
        except UnusableRequest as refusal:
            await self.record_refusal(refusal)
            await self.explain(refusal)
            return
        ended = await self._end_without_question(request)
        if ended is not None:
            self.redirect_303(result_url(ended))
        else:
            address = await end_session.address(self.service, request, self.origin())
            self.redirect_303(uris.with_parameters(LOGOUT, [("request", address)]))

    async def _end_without_question(self, request: LogoutRequest) -> LogoutRequest | None:
        """Signs out the user whom the hint names, and returns the request to continue with.
        Returns None if the person has to be asked, or the browser may not have sent its cookie."""
        if browser.may_lack_cookie(self.service.config, self.request):
            return None
        return await self.end_hinted(request)

    def _params(self, is_post: bool) -> Params:
        is_form = is_post and (self.body or self.request.headers.get("Content-Type"))
        with FORM:
            try:
                return self.form_params() if is_form else self.query_params()
            except InvalidRequest as error:
                raise UnusableRequest("request_malformed", error.description) from error


ROUTES = [(END_SESSION, EndSessionHandler)]
