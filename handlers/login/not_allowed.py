"""/ui/login/not-allowed: the signed-in user may not use the application."""

from __future__ import annotations

from handlers.login.accounts import account_of
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from idp.oauth.params import Params
from idp.oauth.sign_in import admission
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn


class NotAllowedHandler(FlowHandler):
    """Displays that the authenticated user may not use the application, with two buttons: to
    choose another account, or to return to the application."""

    async def show(self, flow: PendingSignIn) -> None:
        step = await self.current_step(flow)
        if step.page is not SignInPage.NOT_ALLOWED or step.live_session is None:
            self.redirect_instead(self.url_of(LOGIN, flow))
        await admission.store_refusal(self.service, flow.client, flow.request, step.live_session)
        self.step(
            SignInPage.NOT_ALLOWED,
            flow,
            status=403,
            account=account_of(step.live_session),
        )

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        is_other = form.get("account") == "other"
        self.redirect_303(
            self.url_of(ADDRESSES[SignInPage.LOGIN_NAME] if is_other else LOGIN, flow)
        )


ROUTES = [(ADDRESSES[SignInPage.NOT_ALLOWED], NotAllowedHandler)]
