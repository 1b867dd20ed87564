"""/ui/login/verify-email and /ui/login/user-name: the code that completes a registration."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from handlers.login.codes import REFUSALS, SENT_AGAIN, too_soon
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.login.register import problem_values, state_of
from idp.foundation import logs, uris
from idp.foundation.i18n import Message, message
from idp.identity.factors.mail_codes import MailCodeRefused
from idp.identity.guesses.throttle import Throttled
from idp.identity.sessions.browsers import Cookie
from idp.identity.users import registration
from idp.identity.users.registration import RegistrationProblem
from idp.mail import messages
from idp.oauth.params import Params
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import registration as sign_in_registration
from idp.oauth.sign_in import registration_organization
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import Flow
from idp.oauth.sign_in.registration import AddressTaken, NameTaken
from idp.records import Registration

_log = logs.logger(__name__)

_OTHER_BROWSER: Final = message(
    "An account is opened in the browser in which it was begun. Go back to that one and type the"
    " code from the mail there, or start again here.",
    context="verify-email",
)
_KNOWN: Final = message(
    "There is an account with this address by now. Sign in with it.", context="verify-email"
)
_NAME_TAKEN: Final = message(
    "This user name is somebody else's. Choose another.", context="user-name"
)


class WaitingHandler(FlowHandler):
    """The base of the pages that complete a pending registration."""

    async def find_waiting(self, flow: Flow) -> Registration:
        """Returns the pending registration. Raises ResponseSent if there is none or its
        organization no longer accepts any."""
        waiting = await sign_in_registration.find(self.service, flow)
        if waiting is None or not await registration_organization.find(self.service, flow):
            if flow.request.registration_id is not None:
                # The flow must not wait for a registration that cannot be completed.
                await sign_in_flow.forget_registration(self.service, flow)
            self.redirect_instead(self.at(LOGIN, flow))
        return waiting

    async def go_on(self, flow: Flow, made: Awaitable[Cookie | None]) -> None:
        """Awaits `made`, which creates the account and returns the browser's cookie, then
        redirects to the next step of the sign-in."""
        self.set_browser_cookie(await made)
        self.redirect_303(self.at(LOGIN, flow))


class VerifyEmailHandler(WaitingHandler):
    """Asks for the code that was sent by e-mail. The message's link fills it in; only submitting
    the form uses it."""

    async def show(self, flow: Flow) -> None:
        waiting = await self.find_waiting(flow)
        if waiting.proven_at is not None:
            self.redirect_instead(self.at(ADDRESSES[SignInPage.USER_NAME], flow))
        query = self.query_params()
        notice = SENT_AGAIN if query.if_once("sent") == "again" else None
        self._ask(flow, waiting, notice=notice, typed=query.if_once("code") or "")

    async def submit(self, flow: Flow, form: Params) -> None:
        waiting = await self.find_waiting(flow)
        try:
            if form.get("decision") == "resend":
                await self._resend(flow, waiting)
            else:
                await self._enter(flow, waiting, form.get("code") or "")
        except Throttled as error:
            seconds = self.wait(error)
            problem = RegistrationProblem(None, too_soon(seconds))
            self._ask(flow, waiting, status=429, problems=problem_values([problem]))

    async def _resend(self, flow: Flow, waiting: Registration) -> None:
        await sign_in_registration.resend(self.service, flow, waiting, state_of(self, flow))
        here = self.at(ADDRESSES[SignInPage.VERIFY_EMAIL], flow)
        self.redirect_303(uris.with_parameters(here, [("sent", "again")]))

    async def _enter(self, flow: Flow, waiting: Registration, code: str) -> None:
        state = state_of(self, flow)
        entering = sign_in_registration.enter_code(self.service, flow, waiting, code, state)
        try:
            await self.go_on(flow, entering)
        except NameTaken:
            self.redirect_303(self.at(ADDRESSES[SignInPage.USER_NAME], flow))
        except AddressTaken:
            self._ask(
                flow,
                waiting,
                status=400,
                problems=problem_values([RegistrationProblem(None, _KNOWN)]),
            )
        except MailCodeRefused as error:
            _log.info("registration refused", cause=error.error_code, address=self.address())
            problems = problem_values([RegistrationProblem("code", REFUSALS[error.error_code])])
            self._ask(flow, waiting, status=400, problems=problems)

    def _ask(
        self, flow: Flow, waiting: Registration, *, status: int = 200, **values: object
    ) -> None:
        own: dict[str, object] = {
            "email": registration.unseal(self.service, waiting.sealed).email,
            "typed": "",
            "mail_url": messages.page_url(self.service.config),
            "resendable": True,
            "register_url": self.at(ADDRESSES[SignInPage.REGISTER], flow),
            "login_url": self.at(ADDRESSES[SignInPage.LOGIN_NAME], flow),
        }
        self.step(SignInPage.VERIFY_EMAIL, flow, status=status, **(own | values))

    async def expired(self, status: int = 410, sentence: Message | None = None) -> None:
        """Answers that the sign-in has expired. A message's link that was opened in another
        browser gets a text that says where it works."""
        is_link = status == 410 and "code" in self.query_params()
        await super().expired(status, sentence or (_OTHER_BROWSER if is_link else None))


class UserNameHandler(WaitingHandler):
    """Asks for another user name, because the one that was chosen at registration is now taken."""

    async def show(self, flow: Flow) -> None:
        waiting = await self._find_verified(flow)
        taken = registration.unseal(self.service, waiting.sealed).user_name
        self._ask(
            flow, taken, problems=problem_values([RegistrationProblem("userName", _NAME_TAKEN)])
        )

    async def submit(self, flow: Flow, form: Params) -> None:
        waiting = await self._find_verified(flow)
        name = (form.get("userName") or "").strip()
        own = registration.unseal(self.service, waiting.sealed).email
        problems = registration.name_problems(name, own)
        if problems:
            self._ask(flow, name, status=400, problems=problem_values(problems))
            return
        try:
            making = sign_in_registration.choose_name(self.service, flow, waiting, name)
            await self.go_on(flow, making)
        except NameTaken:
            problem = RegistrationProblem("userName", _NAME_TAKEN)
            self._ask(flow, name, status=400, problems=problem_values([problem]))
        except AddressTaken:
            self._ask(
                flow,
                name,
                status=400,
                problems=problem_values([RegistrationProblem(None, _KNOWN)]),
            )
        except Throttled as error:
            self._ask(flow, name, status=429, retry_seconds=self.wait(error))

    async def _find_verified(self, flow: Flow) -> Registration:
        """Returns the pending registration, whose e-mail address is verified. Raises ResponseSent
        if it is not."""
        waiting = await self.find_waiting(flow)
        if waiting.proven_at is None:
            self.redirect_instead(self.at(ADDRESSES[SignInPage.VERIFY_EMAIL], flow))
        return waiting

    def _ask(self, flow: Flow, name: str, *, status: int = 200, **values: object) -> None:
        own: dict[str, object] = {
            "user_name": name,
            "login_url": self.at(ADDRESSES[SignInPage.LOGIN_NAME], flow),
        }
        self.step(SignInPage.USER_NAME, flow, status=status, **(own | values))


ROUTES = [
    (ADDRESSES[SignInPage.VERIFY_EMAIL], VerifyEmailHandler),
    (ADDRESSES[SignInPage.USER_NAME], UserNameHandler),
]
