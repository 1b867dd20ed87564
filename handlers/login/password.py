"""/ui/login/password: the second page of a sign-in."""

from __future__ import annotations

from handlers.login import passkey
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from idp.foundation.i18n import message
from idp.identity.guesses.throttle import Throttled
from idp.identity.sessions import password_check
from idp.oauth.params import Params
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import password_reset
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import Flow

_WRONG = message(
    "That login name and password don't match, or the account can't be used right now.",
    context="password",
)
OTHER_WAYS = message(
    "If you are sure, use Forgot password, a passkey, or a browser you have used before.",
    context="password",
)
_FITTING = (
    SignInPage.PASSWORD,
    SignInPage.RESET_CODE,
)  # a person who waits for a reset code may remember the password


class PasswordHandler(FlowHandler):
    """Asks for the user's password. Every failure has the same text, to hide which accounts
    exist."""

    async def show(self, flow: Flow) -> None:
        await self._ask(flow, await self._login_name(flow))

    async def submit(self, flow: Flow, form: Params) -> None:
        login_name = await self._login_name(flow)
        try:
            cookie = await sign_in_flow.enter_password(
                self.service, flow, login_name, form.get("password") or "", self.origin_of(flow)
            )
        except Throttled as error:
            await self._ask(flow, login_name, status=429, retry_seconds=self.wait(error))
        except password_check.SignInRefused as error:
            texts = [_WRONG, OTHER_WAYS] if error.is_repeated else [_WRONG]
            problems = [{"field": None, "text": text} for text in texts]
            await self._ask(flow, login_name, status=400, problems=problems)
        else:
            self.set_browser_cookie(cookie)
            self.redirect_303(self.at(LOGIN, flow))

    async def _login_name(self, flow: Flow) -> str:
        """Returns the login name whose password is asked for. Raises ResponseSent if another step
        is due."""
        step = await self.current_step(flow)
        if step.page not in _FITTING or step.login_name is None:
            self.redirect_instead(self.at(LOGIN, flow))
        return step.login_name

    async def _ask(
        self, flow: Flow, login_name: str, *, status: int = 200, **values: object
    ) -> None:
        back = self.at(ADDRESSES[SignInPage.LOGIN_NAME], flow)
        has_passkeys = await passkey.offered(self, flow) is not None
        is_offered = await password_reset.is_offered(self.service, flow)
        self.step(
            SignInPage.PASSWORD,
            flow,
            status=status,
            login_name=login_name,
            back_url=back,
            passkey_url=self.at(ADDRESSES[SignInPage.PASSKEY], flow) if has_passkeys else None,
            reset_url=self.at(ADDRESSES[SignInPage.RESET], flow) if is_offered else None,
            **values,
        )


ROUTES = [(ADDRESSES[SignInPage.PASSWORD], PasswordHandler)]
