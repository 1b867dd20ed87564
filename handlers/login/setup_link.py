"""/ui/setup: the set-up link. A one-time password is replaced, and its user is signed in."""

from __future__ import annotations

from handlers.forms import console_session
from handlers.http import browser
from handlers.login.flow import LOGIN
from handlers.login.name import problem_of
from handlers.login.new_password import policy_of, problems_of
from handlers.pages import first_cookie
from handlers.pages.base import ForeignForm, PageHandler
from idp.foundation import logs
from idp.foundation.i18n import message
from idp.foundation.texts import typed_texts
from idp.identity.sessions import own_password, password_check
from idp.identity.users import permissions
from idp.limits.throttled import Throttled
from idp.oauth.params import Params
from idp.oauth.sign_in import first_party_areas
from idp.records import Browser
from idp.start import first_start, registration_choice
from storage import Conflict, Stale

_log = logs.logger(__name__)
_WRONG = message(
    "Check your email or username and the one-time password. A one-time password works"
    " once and for a limited time.",
    context="setup",
)


class SetupHandler(PageHandler):
    """Asks for the login name, the one-time password and the new password in one form; the link
    fills in all but the new password.

    The browser may have no cookie yet: the one-time password itself authenticates the form.
    """

    _allows_registration = False  # whether anyone may register, as chosen in the form

    async def get(self) -> None:
        await first_cookie.give(self)
        await self._ask("")

    async def post(self) -> None:
        # There may be no cookie that a form token could be bound to, so the headers alone decide.
        if browser.may_lack_cookie(self.service.config, self.request):
            raise ForeignForm("the form may have been sent by another site")
        browser_record = await self.find_browser()
        if browser_record is None and await self.repeat_cookie():
            self.redirect_303(LOGIN)
            return
        form = self._own_form()
        self._allows_registration = form.get("strangers") == "yes"
        login_name = typed_texts.name(form.get("loginName") or "")
        problem = problem_of(login_name)
        if problem is not None:
            problems = [{"field": "loginName", "text": problem}]
            await self._ask(login_name, status=400, problems=problems)
            return
        try:
            await self._submit(login_name, form, browser_record)
        except Throttled as error:
            self.set_header("Retry-After", str(error.retry_after_seconds))
            await self._ask(login_name, status=429, retry_seconds=error.retry_after_seconds)
        # Stale: a concurrent request has used the password.
        except (password_check.SignInRefused, Stale) as error:
            if await self.repeat_cookie():
                self.redirect_303(LOGIN)
                return
            _log.info("set-up refused", cause=str(error), address=self.address())
            problems = [{"field": "password", "text": _WRONG}]
            await self._ask(login_name, status=400, problems=problems)

    async def _submit(self, login_name: str, form: Params, browser_record: Browser | None) -> None:
        password, new_password = form.get("password") or "", form.get("newPassword") or ""
        subject = await own_password.verify_one_time(
            self.service, login_name, password, self.origin(browser_record)
        )
        problems = await problems_of(self.service, subject, new_password)
        if problems:
            org_id = subject.user.org_id
            await self._ask(login_name, password, status=400, org_id=org_id, problems=problems)
            return
        is_open = self._allows_registration
        choice = await registration_choice.answer(self.service, subject, is_open=is_open)
        try:
            cookie = await own_password.replace_one_time(
                self.service, browser_record, subject, new_password, *choice
            )
        except Conflict:  # a login policy was stored meanwhile, and takes precedence
            cookie = await own_password.replace_one_time(
                self.service, browser_record, subject, new_password
            )
        # Policies are cached; the stored choice takes effect immediately.
        self.service.settings_cache.forget()
        self.set_browser_cookie(cookie)
        rights = await permissions.of_user(self.service, subject.user.id)
        self.redirect_303(
            first_party_areas.CONSOLE.path if console_session.may_open_console(rights) else LOGIN
        )

    async def _ask(
        self,
        login_name: str,
        password: str | None = None,
        *,
        status: int = 200,
        org_id: str | None = None,
        **values: object,
    ) -> None:
        """Displays the form. `password` is a verified one-time password, which is filled in
        again."""
        await self.show_organization(org_id)
        self.page(
            "setup",
            status=status,
            login_name=login_name,
            password=password,
            policy=await policy_of(self.service, org_id),
            asks_about_registration=await registration_choice.is_asked(self.service),
            allows_registration=self._allows_registration,
            sign_in_url=first_party_areas.CONSOLE.path
            if await first_start.is_link_used(self.service)
            else None,
            **values,
        )


ROUTES = [(first_start.PAGE, SetupHandler)]
