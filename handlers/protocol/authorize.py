"""GET and POST /oauth/v2/authorize: the start of every interactive sign-in."""

from __future__ import annotations

from collections.abc import Sequence

from handlers.http import browser
from handlers.login.flow import LOGIN, SENTENCES
from handlers.pages import redirect_reply
from handlers.pages.base import PageHandler
from handlers.protocol.error_recording import RefusingHandler
from idp.foundation import uris
from idp.identity.sessions import browsers
from idp.oauth import request_limits
from idp.oauth.endpoints import authorization as authorization_endpoint
from idp.oauth.endpoints import authorization_response, pushed_authorization
from idp.oauth.endpoints.authorization import AuthorizeRefused
from idp.oauth.endpoints.authorization_response import AuthorizationResponse
from idp.oauth.endpoints.pushed_authorization import OtherBrowser
from idp.oauth.errors import (
    AuthorizationUnavailable,
    InvalidRequest,
    TemporarilyUnavailable,
    UnusableRequest,
)
from idp.oauth.params import Params
from idp.oauth.paths import AUTHORIZE
from idp.oauth.refusals.check import FORM
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in import responses, restart_link
from idp.oauth.sign_in.endings import Ending
from idp.oauth.sign_in.pending import BegunFlow
from idp.records import Application, AuthRequest
from storage import Stale, StorageError


class AuthorizeHandler(RefusingHandler, PageHandler):
    """The authorization endpoint (OpenID Connect Core 3.1.2).

    Browsers send no cookie with a POST from another site, so such a POST is redirected to a GET
    that has the cookie.
    """

    endpoint = "authorize"
    _sent_pairs: Sequence[tuple[str, str]] = ()

    async def get(self) -> None:
        await self._respond(is_post=False)

    async def post(self) -> None:
        await self._respond(is_post=True)

    async def _respond(self, *, is_post: bool) -> None:
        # As early as possible, so that a refused request costs nothing.
        if not self._may_have_user():
            request_limits.admit_authorization(self.service, self.origin())
        try:
            params = self._params(is_post)
            self._sent_pairs = params.pairs()
            self.ui_locales = params.if_once("ui_locales")
            request, client = await authorization_endpoint.read(
                self.service, params, self.record_refusal
            )
            await self._answer(request, client)
        # Client and redirect URI are valid, so the client gets the error (RFC 6749 4.1.2.1).
        except AuthorizeRefused as refusal:
            self.log_exception(type(refusal.error), refusal.error, None)
            await self.record_refusal(refusal.error)
            redirect_reply.send(
                self,
                authorization_response.failure(self.service.config, refusal.to, refusal.error),
            )
        # Without a valid client and redirect URI, the error is displayed to the person and not
        # returned to the client (RFC 6749 4.1.2.1).
        except UnusableRequest as refusal:
            await self.record_refusal(refusal)
            await self.explain(refusal)
        except OtherBrowser as refusal:
            await self.record_refusal(refusal)
            sentence = SENTENCES[Ending.OTHER_BROWSER]
            self.show_expired(sentence=sentence, has_cookie=self.has_cookie)

    def _may_have_user(self) -> bool:
        return browsers.may_have_user(self.get_cookie(self._cookie_name))

    def _params(self, is_post: bool) -> Params:
        with FORM:
            try:
                return self.form_params() if is_post else self.query_params()
            except InvalidRequest as error:
                raise UnusableRequest("request_malformed", error.description) from error

    async def _answer(self, request: AuthRequest, client: Application) -> None:
        """Redirects the browser to the client or to the sign-in pages."""
        self.show_client(client)
        try:
            outcome = await self._next(request, client)
        except StorageError as error:
            # A concurrent request has used the pushed request, which is valid once (RFC 9126 4).
            if isinstance(error, Stale) and request.pushed_id is not None:
                raise pushed_authorization.used_meanwhile(client) from None
            self._answer_unavailable(request, error)
            return
        if isinstance(outcome, BegunFlow):
            self.set_browser_cookie(outcome.cookie)
            self.redirect_303(self._login_url(outcome, request, client))
        else:
            redirect_reply.send(self, outcome)

    async def _next(
        self, request: AuthRequest, client: Application
    ) -> AuthorizationResponse | BegunFlow:
        if browser.may_lack_cookie(self.service.config, self.request):
            return await sign_in_pending.begin_unbound(self.service, request, self.origin())
        browser_record = await self.find_browser()
        origin = self.origin(browser_record)
        if self._may_have_user() and not browsers.has_user(browser_record):
            request_limits.admit_authorization(self.service, origin)
        pushed_authorization.refuse_other_browser(request, browser_record)
        answer = await sign_in_flow.answer_immediately(
            self.service, client, request, browser_record
        )
        return answer or await sign_in_pending.begin(self.service, request, browser_record, origin)

    def _answer_unavailable(self, request: AuthRequest, error: StorageError) -> None:
        """Raises TemporarilyUnavailable, whose page offers to repeat the request. With
        `prompt=none`, which allows no page (OpenID Connect Core 3.1.2.1), the error is returned to
        the client instead (RFC 6749 4.1.2.1)."""
        if "none" not in request.prompt:
            raise TemporarilyUnavailable from error
        self.log_exception(type(error), error, None)
        redirect_reply.send(
            self, responses.failure(self.service, request, AuthorizationUnavailable())
        )

    def retry(self, status: int) -> dict[str, object]:
        """Returns the template values with which the error page offers to repeat the request. For
        status 503, they include a form with the request's method and parameters.

        The form is not submitted automatically: the person decides (WCAG, failure F41).
        """
        if status != 503 or not self._sent_pairs:
            return super().retry(status)
        redirect_uri = dict(self._sent_pairs).get("redirect_uri", "")
        if redirect_uri.startswith(("https://", "http://")):
            # The response to the form may redirect there immediately.
            self.let_forms_leave()
        form = {"method": self.request.method, "action": AUTHORIZE, "fields": self._sent_pairs}
        return {
            "retry_url": uris.with_parameters(AUTHORIZE, list(self._sent_pairs)),
            "retry_form": form,
        }

    def _login_url(self, begun_flow: BegunFlow, request: AuthRequest, client: Application) -> str:
        """Returns the address of a flow, with a restart link, which is used when it has
        expired."""
        tag = self.bundle().tag
        start = restart_link.of_request(self.service, request, client, tag)
        restart_parameter = (restart_link.PARAMETER, restart_link.write(self.service, start))
        return uris.with_parameters(LOGIN, [("flow", begun_flow.address), restart_parameter])


ROUTES = [(AUTHORIZE, AuthorizeHandler)]
