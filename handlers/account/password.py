"""/ui/account/password: the person changes their password or sets a first one."""

from __future__ import annotations

from typing import Final

from handlers.account.base import AccountHandler
from handlers.account.factor import NOT_SET_UP, Factor, FactorState
from handlers.account.sections import ACCOUNT
from handlers.http.base import ResponseSent
from handlers.login.new_password import policy_for, problems_of
from handlers.pages import signed_in_page
from handlers.pages.base import PageHandler
from idp.foundation import logs
from idp.foundation.i18n import message
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions import own_password, password_check
from idp.identity.users.subjects import Subject
from idp.limits.throttled import Throttled
from idp.oauth.params import Params
from idp.service import Service
from storage import Stale

PASSWORD: Final = f"{ACCOUNT}/password"

_log = logs.logger(__name__)
_WRONG: Final = message(
    "Enter your current password. This one is wrong.", context="change-password"
)


class AccountPasswordHandler(AccountHandler):
    """Changes the password, for which the person enters the current one too. A person without a
    password sets a first one, and must have authenticated recently."""

    section = "security"

    async def show(self, *ids: str) -> None:
        if not self._has_password:
            await self.require_recent_sign_in()
        await self._ask()

    async def post(self, *ids: str) -> None:
        # The form changes the cookie, which a browser that sent it twice does not have yet.
        if await self.find_browser() is None:
            await self._follow_if_repeated()
        await super().post(*ids)

    async def submit(self, form: Params, *ids: str) -> None:
        subject, new_password = self.person.subject, form.get("newPassword") or ""
        if self._has_password:
            current_problems = await self._check_current(form)
        else:
            await self.require_recent_sign_in()
            current_problems = []
        problems = [*current_problems, *await problems_of(self.service, subject, new_password)]
        if problems:
            await self._ask(status=400, problems=problems)
            return
        try:
            cookie = await own_password.replace(
                self.service, self.person.browser, self.person.live_session, subject, new_password
            )
        except Stale:
            await self._follow_if_repeated()
            raise
        self.set_browser_cookie(cookie)
        await self._choose_new_session(
            await session_lifetime.find_live(self.service, cookie.browser)
        )
        self.redirect_with_notice("password")

    async def _check_current(self, form: Params) -> list[dict[str, object]]:
        """Returns the problems of the current password. Raises ResponseSent if the attempt was
        throttled and not checked."""
        current_password = form.get("currentPassword") or ""
        try:
            origin = self.origin(self.person.browser)
            await own_password.verify_password(
                self.service, self.person.live_session, current_password, origin
            )
        except Throttled as error:
            self.set_header("Retry-After", str(error.retry_after_seconds))
            await self._ask(status=429, retry_seconds=error.retry_after_seconds)
            raise ResponseSent from error
        except password_check.SignInRefused as error:
            await self._follow_if_repeated()
            _log.info("password change refused", cause=str(error), address=self.address())
            return [{"field": "currentPassword", "text": _WRONG}]
        return []

    async def _follow_if_repeated(self) -> None:
        """Raises ResponseSent, after the answer that the first one got, if this form has changed
        the password already."""
        if await self.repeat_cookie():
            self.redirect_with_notice("password")
            raise ResponseSent

    async def _choose_new_session(self, live_sessions: list[session_lifetime.LiveSession]) -> None:
        """Chooses the new session, because the password change has replaced the old one."""
        own_sessions = [
            live_session
            for live_session in live_sessions
            if live_session.subject.user.id == self.person.user.id
        ]
        if own_sessions:
            signed_in_page.remember_person(self, own_sessions[0].session.id)

    @property
    def _has_password(self) -> bool:
        return self.person.user.password is not None

    async def _ask(self, *, status: int = 200, **values: object) -> None:
        self.page(
            "account/password",
            status=status,
            login_name=self.person.user.user_name,
            has_password=self._has_password,
            policy=await policy_for(self.service, self.person.user),
            hidden=self.form_inputs(),
            **values,
        )


class WellKnownHandler(PageHandler):
    """Redirects password managers from the well-known address to the page that changes the
    password (W3C, A Well-Known URL for Changing Passwords)."""

    async def get(self) -> None:
        self.redirect_303(PASSWORD)


async def _state(service: Service, subject: Subject) -> FactorState:
    password = subject.user.password
    if password is None:
        return NOT_SET_UP
    return FactorState(None, message("Changed %(when)s", context="account"), password.changed_at)


FACTOR: Final = Factor(message("Password", context="page"), "lock", PASSWORD, _state)

ROUTES = [
    # Tornado reads a path as a pattern.
    ("/\\.well-known/change-password", WellKnownHandler),
    (PASSWORD, AccountPasswordHandler),
]
