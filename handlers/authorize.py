"""GET and POST /oauth/v2/authorize: the start of every interactive sign-in."""

from __future__ import annotations

from handlers import browser
from handlers.page import PageHandler
from handlers.refusing import RefusingHandler
from idp.oauth import authorize, responses, sign_in_flow
from idp.oauth.authorize import Refused
from idp.oauth.checks.check import FORM
from idp.oauth.endpoints import AUTHORIZE
from idp.oauth.errors import InvalidRequest, TemporarilyUnavailable, Unusable
from idp.oauth.params import Params
from idp.records import Application, AuthRequest
from storage import StorageError

LOGIN = "/ui/login"


class AuthorizeHandler(RefusingHandler, PageHandler):
    """The authorization endpoint (OpenID Connect Core 3.1.2).

    A POST from another site comes without the cookie, so it is stored, and goes on as a GET.
    """

    endpoint = "authorize"

    async def get(self) -> None:
        await self._respond(is_post=False)

    async def post(self) -> None:
        await self._respond(is_post=True)

    async def _respond(self, *, is_post: bool) -> None:
        try:
            params = self._params(is_post)
            self.ui_locales = params.if_once("ui_locales")
            request, client = await authorize.read(self.service, params)
            self.see(await self._next(request, client))
        except Refused as refusal:
            self.log_exception(type(refusal.error), refusal.error, None)
            await self.keep(refusal.error)
            self.see(responses.failure(self.service.config, refusal.to, refusal.error))
        except Unusable as refusal:
            await self.keep(refusal)
            await self.explain(refusal)

    def _params(self, is_post: bool) -> Params:
        with FORM:
            try:
                return self.form_params() if is_post else self.query_params()
            except InvalidRequest as error:
                raise Unusable("request_malformed", error.description) from error

    async def _next(self, request: AuthRequest, client: Application) -> str:
        """Where the browser goes: back to the client, or to the sign-in pages."""
        try:
            if browser.may_lack_cookie(self.service.config, self.request):
                return login_url(await sign_in_flow.begin_unbound(self.service, request), client)
            agent = await self.find_agent()
            answer = await sign_in_flow.answer_at_once(self.service, client, request, agent)
            if answer is not None:
                return answer
            begun = await sign_in_flow.begin(self.service, request, agent)
            self.keep_cookie(begun.cookie)
            return login_url(begun, client)
        except StorageError as error:
            self.log_exception(type(error), error, None)
            return sign_in_flow.failure(self.service, request, TemporarilyUnavailable())


def login_url(begun: sign_in_flow.Begun, client: Application) -> str:
    """The address of a flow; the client's id lets an expired one lead back to it."""
    return responses.append(LOGIN, [("flow", begun.flow_id), ("client_id", client.id)])


ROUTES = [(AUTHORIZE, AuthorizeHandler)]
