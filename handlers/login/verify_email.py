"""/ui/login/verify-email and /ui/login/user-name: the code that completes a registration."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from handlers.login.codes import REFUSALS, SENT_AGAIN, too_soon
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.login.register import problem_values, state_of
from idp.foundation import logs, uris
from idp.foundation.i18n import Message, message
from idp.foundation.texts import typed_texts
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses import mail_limits
from idp.identity.sessions.browsers import Cookie
from idp.identity.users import registration
from idp.identity.users.registration import RegistrationProblem
from idp.limits.throttled import Throttled
from idp.mail import messages
from idp.oauth.params import Params
from idp.oauth.sign_in import registration as sign_in_registration
from idp.oauth.sign_in import registration_organization
from idp.oauth.sign_in.endings import Ending
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.oauth.sign_in.registration import AddressTaken, NameTaken
from idp.records import Registration

_log = logs.logger(__name__)

_OTHER_BROWSER: Final = message(
    "Enter the code from the email in the browser in which you started, or start again here.",
    context="verify-email",
)
_ACCOUNT_EXISTS: Final = message(
    "An account with this email already exists. Sign in with it.", context="verify-email"
)
_NAME_TAKEN: Final = message("Choose another username. This one is taken.", context="user-name")


class RegistrationHandler(FlowHandler):
    """The base of the pages that complete a pending registration."""

    async def find_registration(self, flow: PendingSignIn) -> Registration:
        """Returns the pending registration. Raises ResponseSent if there is none or its
        organization no longer accepts any."""
        pending = await sign_in_registration.find(self.service, flow)
        if pending is None or not await registration_organization.find(self.service, flow):
            if flow.request.registration_id is not None:
                # The flow must not wait for a registration that cannot be completed.
                await sign_in_registration.forget(self.service, flow)
            self.redirect_instead(self.url_of(LOGIN, flow))
        return pending

    async def complete(self, flow: PendingSignIn, verification: Awaitable[Cookie]) -> None:
        """Awaits `verification`, which creates the account and returns the browser's cookie, then
        redirects to the next step of the sign-in."""
        self.set_browser_cookie(await verification)
        self.redirect_303(self.url_of(LOGIN, flow))


class VerifyEmailHandler(RegistrationHandler):
    """Asks for the code that was sent by e-mail. The message's link fills it in; only submitting
    the form uses it."""

    async def show(self, flow: PendingSignIn) -> None:
        pending = await self.find_registration(flow)
        if pending.proven_at is not None:
            self.redirect_instead(self.url_of(ADDRESSES[SignInPage.USER_NAME], flow))
        query = self.query_params()
        notice = SENT_AGAIN if query.if_once("sent") == "again" else None
        self._ask(flow, pending, notice=notice, entered=query.if_once("code") or "")

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        pending = await self.find_registration(flow)
        try:
            if form.get("decision") == "resend":
                await self._resend(flow, pending)
            else:
                await self._enter(flow, pending, form.get("code") or "")
        except Throttled as error:
            seconds = self.set_retry_after(error)
            problem = RegistrationProblem(None, too_soon(seconds))
            self._ask(flow, pending, status=429, problems=problem_values([problem]))

    async def _resend(self, flow: PendingSignIn, pending: Registration) -> None:
        await sign_in_registration.resend(self.service, flow, pending, state_of(self, flow))
        page_url = self.url_of(ADDRESSES[SignInPage.VERIFY_EMAIL], flow)
        self.redirect_303(uris.with_parameters(page_url, [("sent", "again")]))

    async def _enter(self, flow: PendingSignIn, pending: Registration, code: str) -> None:
        state = state_of(self, flow)
        verification = sign_in_registration.enter_code(self.service, flow, pending, code, state)
        try:
            await self.complete(flow, verification)
        except NameTaken:
            self.redirect_303(self.url_of(ADDRESSES[SignInPage.USER_NAME], flow))
        except AddressTaken:
            self._ask(
                flow,
                pending,
                status=400,
                problems=problem_values([RegistrationProblem(None, _ACCOUNT_EXISTS)]),
            )
        except MailCodeRefused as error:
            await self.follow_if_repeated(flow)
            _log.info("registration refused", cause=error.error_code, address=self.address())
            problems = problem_values([RegistrationProblem("code", REFUSALS[error.error_code])])
            self._ask(flow, pending, status=400, problems=problems)

    def _ask(
        self, flow: PendingSignIn, pending: Registration, *, status: int = 200, **values: object
    ) -> None:
        page_values: dict[str, object] = {
            "email": registration.unseal(self.service, pending.sealed).email,
            "entered": "",
            "mail_url": messages.page_url(self.service.config),
            "resendable": True,
            "wait_seconds": mail_limits.wait_seconds(self.service, pending.sent_at),
            "register_url": self.url_of(ADDRESSES[SignInPage.REGISTER], flow),
            "login_url": self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow),
        }
        self.step(SignInPage.VERIFY_EMAIL, flow, status=status, **(page_values | values))

    def sentence_of(self, ending: Ending, status: int) -> Message:
        """Returns the text that states why the sign-in can't continue here. Of a message's link
        that was opened in another browser, it names the browser in which that works."""
        is_link = status == 410 and "code" in self.query_params()
        is_elsewhere = ending in (Ending.OTHER_BROWSER, Ending.NO_COOKIE)
        return _OTHER_BROWSER if is_link and is_elsewhere else super().sentence_of(ending, status)


class UserNameHandler(RegistrationHandler):
    """Asks for another user name, because the one that was chosen at registration is now taken."""

    async def show(self, flow: PendingSignIn) -> None:
        pending = await self._find_verified(flow)
        user_name = registration.unseal(self.service, pending.sealed).user_name
        self._ask(
            flow,
            user_name,
            problems=problem_values([RegistrationProblem("userName", _NAME_TAKEN)]),
        )

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        pending = await self._find_verified(flow)
        name = typed_texts.name(form.get("userName") or "")
        email = registration.unseal(self.service, pending.sealed).email
        problems = registration.name_problems(name, email)
        if problems:
            self._ask(flow, name, status=400, problems=problem_values(problems))
            return
        try:
            verification = sign_in_registration.choose_name(self.service, flow, pending, name)
            await self.complete(flow, verification)
        except NameTaken:
            problem = RegistrationProblem("userName", _NAME_TAKEN)
            self._ask(flow, name, status=400, problems=problem_values([problem]))
        except AddressTaken:
            self._ask(
                flow,
                name,
                status=400,
                problems=problem_values([RegistrationProblem(None, _ACCOUNT_EXISTS)]),
            )
        except Throttled as error:
            self._ask(flow, name, status=429, retry_seconds=self.set_retry_after(error))

    async def _find_verified(self, flow: PendingSignIn) -> Registration:
        """Returns the pending registration, whose e-mail address is verified. Raises ResponseSent
        if the address is not verified."""
        pending = await self.find_registration(flow)
        if pending.proven_at is None:
            self.redirect_instead(self.url_of(ADDRESSES[SignInPage.VERIFY_EMAIL], flow))
        return pending

    def _ask(self, flow: PendingSignIn, name: str, *, status: int = 200, **values: object) -> None:
        page_values: dict[str, object] = {
            "user_name": name,
            "login_url": self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow),
        }
        self.step(SignInPage.USER_NAME, flow, status=status, **(page_values | values))


ROUTES = [
    (ADDRESSES[SignInPage.VERIFY_EMAIL], VerifyEmailHandler),
    (ADDRESSES[SignInPage.USER_NAME], UserNameHandler),
]
