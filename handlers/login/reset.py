"""/ui/login/reset and /ui/login/reset-code: password reset during a sign-in.

The response is the same for every login name. A person who receives the message chooses a new
password, and the sign-in continues.
"""

from __future__ import annotations

from typing import Final

from handlers.login.codes import REFUSALS, SENT_AGAIN, too_soon
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.login.name import problem_of
from handlers.login.register import problem_values
from idp.foundation import logs, uris
from idp.foundation.i18n import Message, message
from idp.foundation.texts import typed_texts
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import mail_limits
from idp.identity.users.registration import RegistrationProblem
from idp.limits.throttled import Throttled
from idp.mail import messages
from idp.oauth.params import Params
from idp.oauth.sign_in import password_reset
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.password_reset import ResetState
from idp.oauth.sign_in.pending import PendingSignIn

_log = logs.logger(__name__)
_NOT_OFFERED: Final = message(
    "Ask an administrator or your help desk for a new password.", context="reset"
)
_NO_MAIL: Final = message(
    "This service can't send email yet, so it can't send you a code. Ask an administrator"
    " or your help desk for a new password.",
    context="reset",
)


class ResetHandler(FlowHandler):
    """Asks for the login name of the user whose password is reset. A login name that was entered
    before is filled in."""

    async def show(self, flow: PendingSignIn) -> None:
        self._ask(flow, await self.closed_reason(flow), _entered_login_name(flow))

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        closed_reason, login_name = (
            await self.closed_reason(flow),
            typed_texts.name(form.get("loginName") or ""),
        )
        problem = problem_of(login_name)
        if closed_reason is not None:
            self._ask(flow, closed_reason, "", status=400)
        elif problem is not None:
            problems = problem_values([RegistrationProblem("loginName", problem)])
            self._ask(flow, None, login_name, status=400, problems=problems)
        else:
            await self._begin_reset(flow, login_name)

    async def _begin_reset(self, flow: PendingSignIn, login_name: str) -> None:
        try:
            await password_reset.begin(self.service, flow, login_name, self.state_of(flow))
        except Throttled as error:
            self._ask(
                flow, None, login_name, status=429, retry_seconds=self.set_retry_after(error)
            )
        else:
            self.redirect_303(self.url_of(ADDRESSES[SignInPage.RESET_CODE], flow))

    async def closed_reason(self, flow: PendingSignIn) -> Message | None:
        """Returns the reason why passwords cannot be reset by e-mail; None if they can."""
        if not await password_reset.is_offered(self.service, flow):
            return _NOT_OFFERED
        return None if messages.is_readable(self.service.config) else _NO_MAIL

    def state_of(self, flow: PendingSignIn) -> ResetState:
        """Returns the values of this request that the functions of the password reset take: its
        origin for rate limits, and the language and link parameters of the messages."""
        query = dict(self.mail_query(flow))
        return ResetState(origin=self.origin_of(flow), language=self.bundle().tag, query=query)

    def _ask(
        self,
        flow: PendingSignIn,
        closed_reason: Message | None,
        login_name: str,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        page_values: dict[str, object] = {
            "closed": closed_reason,
            "login_name": login_name,
            "login_url": self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow),
        }
        self.step(SignInPage.RESET, flow, status=status, **(page_values | values))


class ResetCodeHandler(ResetHandler):
    """Asks for the code of a password reset, without revealing whether one was sent."""

    async def show(self, flow: PendingSignIn) -> None:
        await self._require_reset(flow)
        is_resent = self.query_params().if_once("sent") == "again"
        self._ask_code(flow, notice=SENT_AGAIN if is_resent else None)

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        await self._require_reset(flow)
        try:
            if form.get("decision") == "resend":
                await self._resend(flow)
            else:
                await self._enter(flow, form.get("code") or "")
        except Throttled as error:
            problem = RegistrationProblem(None, too_soon(self.set_retry_after(error)))
            self._ask_code(flow, status=429, problems=problem_values([problem]))

    async def _require_reset(self, flow: PendingSignIn) -> None:
        """Raises ResponseSent if no code is due in this flow."""
        step = await self.current_step(flow)
        is_due = step.page is SignInPage.RESET_CODE
        # The reset has expired, so the sign-in continues without it.
        if is_due and await password_reset.find(self.service, flow) is None:
            await password_reset.forget(self.service, flow)
            is_due = False
        if not is_due:
            self.redirect_instead(self.url_of(LOGIN, flow))

    async def _resend(self, flow: PendingSignIn) -> None:
        await password_reset.resend(self.service, flow, self.state_of(flow))
        page_url = self.url_of(ADDRESSES[SignInPage.RESET_CODE], flow)
        self.redirect_303(uris.with_parameters(page_url, [("sent", "again")]))

    async def _enter(self, flow: PendingSignIn, code: str) -> None:
        try:
            await password_reset.enter_code(self.service, flow, code, self.state_of(flow))
        except MailCodeRefused as error:
            await self.follow_if_repeated(flow)
            _log.info("reset refused", cause=error.error_code, address=self.address())
            problems = problem_values([RegistrationProblem("code", REFUSALS[error.error_code])])
            self._ask_code(flow, status=400, problems=problems)
        else:
            self.redirect_303(self.url_of(LOGIN, flow))

    def _ask_code(self, flow: PendingSignIn, *, status: int = 200, **values: object) -> None:
        sent_at = flow.request.reset_sent_at
        page_values: dict[str, object] = {
            "login_name": _entered_login_name(flow),
            "mail_url": messages.page_url(self.service.config),
            "reset_url": self.url_of(ADDRESSES[SignInPage.RESET], flow),
            "wait_seconds": mail_limits.wait_seconds(self.service, sent_at) if sent_at else 0,
            "password_url": self.url_of(ADDRESSES[SignInPage.PASSWORD], flow),
        }
        self.step(SignInPage.RESET_CODE, flow, status=status, **(page_values | values))


def _entered_login_name(flow: PendingSignIn) -> str:
    return flow.request.login_name or flow.request.login_hint or ""


ROUTES = [
    (ADDRESSES[SignInPage.RESET], ResetHandler),
    (ADDRESSES[SignInPage.RESET_CODE], ResetCodeHandler),
]
