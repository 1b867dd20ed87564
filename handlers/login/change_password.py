"""/ui/login/change-password: a new password before the sign-in continues."""

from __future__ import annotations

from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.login.new_password import policy_for, problems_of
from idp.foundation.i18n import Message, message
from idp.identity.users.subjects import Subject
from idp.oauth.params import Params
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn

_INITIAL = message("That password works only once. Choose your own now.", context="password")
_TOO_OLD = message(
    "Your password has expired. Choose a new one now.",
    context="password",
)


class ChangePasswordHandler(FlowHandler):
    """Asks for a new password, after the old one was verified or a password reset was
    confirmed."""

    async def show(self, flow: PendingSignIn) -> None:
        progress = await self._progress(flow)
        notice = None if flow.request.reset_id else _reason(progress.subject)
        await self._ask(flow, progress.subject, notice=notice)

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        progress = await self._progress(flow)
        password = form.get("newPassword") or ""
        problems = await problems_of(
            self.service, progress.subject, password, application=flow.client.name
        )
        if problems:
            await self._ask(flow, progress.subject, status=400, problems=problems)
            return
        cookie = await sign_in_flow.choose_password(self.service, flow, progress, password)
        self.set_browser_cookie(cookie)
        self.redirect_303(self.url_of(LOGIN, flow))

    async def _progress(self, flow: PendingSignIn) -> AuthenticationProgress:
        """Returns the person's progress. Raises ResponseSent if another step is due."""
        step = await self.current_step(flow)
        if step.page is not SignInPage.CHANGE_PASSWORD or step.progress is None:
            self.redirect_instead(self.url_of(LOGIN, flow))
        return step.progress

    async def _ask(
        self, flow: PendingSignIn, subject: Subject, *, status: int = 200, **values: object
    ) -> None:
        self.step(
            SignInPage.CHANGE_PASSWORD,
            flow,
            status=status,
            login_name=subject.user.user_name,
            policy=await policy_for(self.service, subject.user),
            **values,
        )


def _reason(subject: Subject) -> Message:
    password = subject.user.password
    return _INITIAL if password is None or password.must_change else _TOO_OLD


ROUTES = [(ADDRESSES[SignInPage.CHANGE_PASSWORD], ChangePasswordHandler)]
