"""GET and POST /oauth/v2/authorize: the start of every interactive sign-in."""

from __future__ import annotations

from handlers import browser
from handlers.refusing import RefusingHandler
from handlers.replying import ReplyingHandler
from idp.oauth import authorize, continuation, responses, sign_in_flow
from idp.oauth.authorize import Refused
from idp.oauth.checks.check import FORM
from idp.oauth.endpoints import AUTHORIZE
from idp.oauth.errors import InvalidRequest, TemporarilyUnavailable, Unusable
from idp.oauth.params import Params
from idp.oauth.responses import Reply
from idp.oauth.sign_in_flow import Begun
from idp.records import Application, AuthRequest
from storage import StorageError

LOGIN = "/ui/login"


class AuthorizeHandler(RefusingHandler, ReplyingHandler):
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
            request, client = await authorize.read(self.service, params, self.keep)
            await self._go_on(request, client)
        except Refused as refusal:
            self.log_exception(type(refusal.error), refusal.error, None)
            await self.keep(refusal.error)
            self.reply(responses.failure(self.service.config, refusal.to, refusal.error))
        except Unusable as refusal:
            await self.keep(refusal)
            await self.explain(refusal)

    def _params(self, is_post: bool) -> Params:
        with FORM:
            try:
                return self.form_params() if is_post else self.query_params()
            except InvalidRequest as error:
                raise Unusable("request_malformed", error.description) from error

    async def _go_on(self, request: AuthRequest, client: Application) -> None:
        """Send the browser back to the client, or to the sign-in pages."""
        self.show_client(client)
        try:
            next = await self._next(request, client)
        except StorageError as error:
            self.log_exception(type(error), error, None)
            next = sign_in_flow.failure(self.service, request, TemporarilyUnavailable())
        if isinstance(next, Begun):
            self.keep_cookie(next.cookie)
            self.see(self._login_url(next, request, client))
        else:
            self.reply(next)

    async def _next(self, request: AuthRequest, client: Application) -> Reply | Begun:
        if browser.may_lack_cookie(self.service.config, self.request):
            return await sign_in_flow.begin_unbound(self.service, request)
        agent = await self.find_agent()
        answer = await sign_in_flow.answer_at_once(self.service, client, request, agent)
        return answer or await sign_in_flow.begin(self.service, request, agent)

    def _login_url(self, begun: Begun, request: AuthRequest, client: Application) -> str:
        """The address of a flow, with the note that lets an expired one begin anew."""
        tag = self.bundle().tag
        start = continuation.of_request(self.service, request, client, tag)
        note = (continuation.PARAMETER, continuation.write(self.service, start))
        return responses.append(LOGIN, [("flow", begun.flow_id), note])


ROUTES = [(AUTHORIZE, AuthorizeHandler)]
