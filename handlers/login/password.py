"""/ui/login/password: the second page of a sign-in."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from handlers.login import passkey, providers
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.pages import redirect_reply
from handlers.pages.base import ForeignForm
from idp.cached_reads import CachedReads
from idp.foundation.i18n import message
from idp.identity.sessions import password_check
from idp.identity.users import lookup as user_lookup
from idp.limits.throttled import Throttled
from idp.oauth.errors import InvalidRequest
from idp.oauth.params import Params
from idp.oauth.sign_in import password_reset, password_step
from idp.oauth.sign_in.flow_request import FlowRecords
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn

_WRONG = message(
    "Check your email or username and your password: they don't match, or the account can't be"
    " used right now.",
    context="password",
)
OTHER_METHODS = message(
    "If you're sure, use “Forgot password?”, a passkey, or a browser that you've used before.",
    context="password",
)
_ACCEPTED_STEPS = (
    SignInPage.PASSWORD,
    SignInPage.RESET_CODE,
)  # a user who waits for a reset code may remember the password


class PasswordHandler(FlowHandler):
    """Asks for the user's password. Every failure has the same text, to hide which accounts
    exist."""

    async def show(self, flow: PendingSignIn) -> None:
        await self._ask(flow, await self._login_name(flow))

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        login_name = await self._login_name(flow)
        password, origin = form.get("password") or "", self.origin_of(flow)
        try:
            entered = await password_step.enter(
                self.service, flow, login_name, password, origin, self._cached_reads
            )
        except Throttled as error:
            await self._ask(
                flow, login_name, status=429, retry_seconds=self.set_retry_after(error)
            )
        except password_check.SignInRefused as error:
            texts = [_WRONG, OTHER_METHODS] if error.is_repeated else [_WRONG]
            problems = [{"field": "password", "text": text} for text in texts]
            await self._ask(flow, login_name, status=400, problems=problems)
        else:
            self.set_browser_cookie(entered.cookie)
            if entered.response is not None:
                redirect_reply.send(self, entered.response)
            else:
                self.redirect_303(self.url_of(LOGIN, flow))

    async def _read(self) -> FlowRecords | None:
        records, _ = await asyncio.gather(super()._read(), self._look_up())
        return records

    async def _look_up(self) -> None:
        """Looks up the user with the login name that the form repeats while the sign-in is read.
        The result is used only if the sign-in has the same login name."""
        self._cached_reads = CachedReads(self.service)
        if self.request.method != "POST":
            return
        with suppress(ForeignForm, InvalidRequest):
            login_name, start = self._own_form().get("loginName"), self.restart()
            if login_name and start:
                await user_lookup.find_by_login_name(
                    self._cached_reads.service, login_name, start.org_id
                )

    async def _login_name(self, flow: PendingSignIn) -> str:
        """Returns the login name whose password is asked for. Raises ResponseSent if another step
        is due."""
        step = await self.current_step(flow)
        if step.page not in _ACCEPTED_STEPS or step.login_name is None:
            self.redirect_instead(self.url_of(LOGIN, flow))
        return step.login_name

    async def _ask(
        self, flow: PendingSignIn, login_name: str, *, status: int = 200, **values: object
    ) -> None:
        back_url = self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow)
        has_passkeys = await passkey.offered(self, flow) is not None
        is_reset_offered = await password_reset.is_offered(self.service, flow)
        provider_buttons = await providers.buttons(self, flow)
        self.step(
            SignInPage.PASSWORD,
            flow,
            status=status,
            login_name=login_name,
            providers=provider_buttons,
            back_url=back_url,
            passkey_url=self.url_of(ADDRESSES[SignInPage.PASSKEY], flow) if has_passkeys else None,
            reset_url=self.url_of(ADDRESSES[SignInPage.RESET], flow) if is_reset_offered else None,
            **values,
        )


ROUTES = [(ADDRESSES[SignInPage.PASSWORD], PasswordHandler)]
