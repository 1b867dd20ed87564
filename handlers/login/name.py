"""/ui/login: the current step of a sign-in, and its first page, the login name."""

from __future__ import annotations

from typing import Final

from handlers.login import passkey
from handlers.login.accounts import show_signed_in
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.pages.base import PageHandler
from idp.foundation.i18n import Message, message
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import registration
from idp.oauth.params import Params
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import page_branding, registration_organization
from idp.oauth.sign_in import registration as sign_in_registration
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import Flow
from idp.records import USERS

MAX_CHARACTERS: Final = 200


class LoginNameHandler(FlowHandler):
    """The first page of a sign-in, which asks for the login name."""

    async def show(self, flow: Flow) -> None:
        await self._ask(flow)

    async def submit(self, flow: Flow, form: Params) -> None:
        answer = form.get(passkey.FIELD)
        if answer:
            await self._enter_passkey(flow, answer)
            return
        typed = (form.get("loginName") or "").strip()
        problem = problem_of(typed)
        if problem is not None:
            problems = [{"field": "loginName", "text": problem}]
            await self._ask(flow, status=400, login_hint=typed, problems=problems)
            return
        suffix = self._suffix(flow)
        if suffix is not None and "@" not in typed:
            typed = f"{typed}@{suffix}"
        await sign_in_flow.enter_login_name(self.service, flow, typed)
        self.redirect_303(self.at(ADDRESSES[SignInPage.PASSWORD], flow))

    async def _enter_passkey(self, flow: Flow, answer: str) -> None:
        problem = await passkey.enter(self, flow, answer)
        if problem is None:
            self.redirect_303(self.at(LOGIN, flow))
        else:
            await self._ask(flow, status=400, problems=[{"field": None, "text": problem}])

    async def _ask(self, flow: Flow, *, status: int = 200, **values: object) -> None:
        is_open = bool(await registration_organization.among(self.service, flow))
        known = {
            "login_hint": await self._hint(flow),
            "suffix": self._suffix(flow),
            "passkey": await passkey.offered(self, flow),
            "register_url": self.at(ADDRESSES[SignInPage.REGISTER], flow) if is_open else None,
            "accounts_url": self._accounts_url(flow),
        }
        self.step(SignInPage.LOGIN_NAME, flow, status=status, **(known | values))

    def _accounts_url(self, flow: Flow) -> str | None:
        """Returns the address of the account chooser if the browser remembers accounts."""
        # A request that hints at a user is about that user only.
        is_asked_for = flow.request.hinted_user_id is None and flow.browser.remembered
        return self.at(ADDRESSES[SignInPage.ACCOUNTS], flow) if is_asked_for else None

    def _suffix(self, flow: Flow) -> str | None:
        """Returns the domain for bare names, if only users of one organization can sign in."""
        is_known = flow.request.brand_org_id and page_branding.is_fixed(self.service, flow.request)
        if self.page_settings is None or not is_known:
            return None
        return (
            None if self.page_settings.label.hide_login_name_suffix else self.page_settings.domain
        )

    async def _hint(self, flow: Flow) -> str:
        """Returns the field's first value: what was entered before, or the application's hint."""
        request = flow.request
        if request.login_name is None and request.login_hint is None and request.hinted_user_id:
            user = await self.service.store.get(USERS, request.hinted_user_id)
            return user.user_name if user else ""
        waiting = await sign_in_registration.find(self.service, flow)
        if request.login_name is None and waiting is not None:
            return registration.unseal(self.service, waiting.sealed).email
        return request.login_name or request.login_hint or ""


class LoginHandler(LoginNameHandler):
    """Redirects to the page of the sign-in's current step, or displays the first page."""

    async def get(self) -> None:
        if self.query_params().get("flow") is None:
            await self._without_application()
        else:
            await super().get()

    async def show(self, flow: Flow) -> None:
        step = await self.current_step(flow)
        is_closed = step.page is SignInPage.REGISTER and await registration_organization.is_closed(
            self.service, flow
        )
        if (
            step.page is SignInPage.LOGIN_NAME or is_closed
        ):  # `prompt=create` is ignored where nobody may register
            await self._ask(flow)
        else:
            self.redirect_303(self.at(ADDRESSES[step.page], flow))

    async def _without_application(self) -> None:
        live = await session_lifetime.find_live(self.service, await self.find_browser())
        await self.show_requested_client()
        if self.requested_id("client_id") is None and len(live) == 1:
            await self.show_organization(live[0].subject.organization.id)
        await show_signed_in(self, live, None)


class RootHandler(PageHandler):
    """Redirects the root address of the service to the sign-in."""

    async def get(self) -> None:
        self.redirect_303(LOGIN)


def problem_of(typed: str) -> Message | None:
    """Returns why an entered text cannot be a login name; None if it can be one."""
    if not typed:
        return message("Enter your login name.", context="login-name")
    if len(typed) > MAX_CHARACTERS:
        return message("That is too long for a login name.", context="login-name")
    if "\0" in typed:
        return message(
            "The login name holds a character that can't be used.", context="login-name"
        )
    return None


ROUTES = [
    ("/", RootHandler),
    (LOGIN, LoginHandler),
    (ADDRESSES[SignInPage.LOGIN_NAME], LoginNameHandler),
]
