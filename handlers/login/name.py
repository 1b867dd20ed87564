"""/ui/login: the current step of a sign-in, and its first page, the login name."""

from __future__ import annotations

from typing import Final

from handlers.login import passkey, providers
from handlers.login.accounts import show_signed_in
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.pages.base import PageHandler
from idp.foundation.i18n import Message, message
from idp.foundation.texts import typed_texts
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import registration
from idp.oauth.params import Params
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import page_branding, registration_organization, upstream_departure
from idp.oauth.sign_in import registration as sign_in_registration
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import USERS

MAX_CHARACTERS: Final = 200


class LoginNameHandler(FlowHandler):
    """The first page of a sign-in, which asks for the login name."""

    async def show(self, flow: PendingSignIn) -> None:
        await self._ask(flow)

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        passkey_response = form.get(passkey.FIELD)
        if passkey_response:
            await self._enter_passkey(flow, passkey_response)
            return
        login_name = typed_texts.name(form.get("loginName") or "")
        problem = problem_of(login_name)
        if problem is not None:
            problems = [{"field": "loginName", "text": problem}]
            await self._ask(flow, status=400, login_hint=login_name, problems=problems)
            return
        suffix = self._suffix(flow)
        if suffix is not None and "@" not in login_name:
            login_name = f"{login_name}@{suffix}"
        # Before any user is looked up, so that the response reveals nothing about accounts.
        connection = await upstream_departure.for_login_name(self.service, flow, login_name)
        if connection is not None:
            await providers.redirect_to_provider(self, flow, connection.id, login_name)
            return
        await sign_in_flow.enter_login_name(self.service, flow, login_name)
        self.redirect_303(self.url_of(ADDRESSES[SignInPage.PASSWORD], flow))

    async def _enter_passkey(self, flow: PendingSignIn, passkey_response: str) -> None:
        problem = await passkey.enter(self, flow, passkey_response)
        if problem is None:
            self.redirect_303(self.url_of(LOGIN, flow))
        else:
            await self._ask(flow, status=400, problems=[{"field": None, "text": problem}])

    async def _ask(self, flow: PendingSignIn, *, status: int = 200, **values: object) -> None:
        may_register = bool(await registration_organization.selectable(self.service, flow))
        page_values = {
            "login_hint": await self._hint(flow),
            "suffix": self._suffix(flow),
            "passkey": await passkey.offered(self, flow),
            "register_url": self.url_of(ADDRESSES[SignInPage.REGISTER], flow)
            if may_register
            else None,
            "accounts_url": self._accounts_url(flow),
            "providers": await providers.first_page_buttons(self, flow),
            "failed_request": None,
            **await providers.failure_notice(self, flow),
        }
        self.step(SignInPage.LOGIN_NAME, flow, status=status, **(page_values | values))

    def _accounts_url(self, flow: PendingSignIn) -> str | None:
        """Returns the address of the account chooser if the browser remembers accounts."""
        # A request that hints at a user is about that user only.
        is_offered = flow.request.hinted_user_id is None and flow.browser.remembered
        return self.url_of(ADDRESSES[SignInPage.ACCOUNTS], flow) if is_offered else None

    def _suffix(self, flow: PendingSignIn) -> str | None:
        """Returns the domain for bare names, if only users of one organization can sign in."""
        is_organization_fixed = flow.request.brand_org_id and page_branding.is_fixed(
            self.service, flow.request
        )
        if self.page_settings is None or not is_organization_fixed:
            return None
        return (
            None if self.page_settings.label.hide_login_name_suffix else self.page_settings.domain
        )

    async def _hint(self, flow: PendingSignIn) -> str:
        """Returns the initial value of the field: the earlier entry, or the application's hint."""
        request = flow.request
        if request.login_name is None and request.login_hint is None and request.hinted_user_id:
            user = await self.service.store.get(USERS, request.hinted_user_id)
            return user.user_name if user else ""
        pending = await sign_in_registration.find(self.service, flow)
        if request.login_name is None and pending is not None:
            return registration.unseal(self.service, pending.sealed).email
        return request.login_name or request.login_hint or ""


class LoginHandler(LoginNameHandler):
    """Redirects to the page of the sign-in's current step, or displays the first page."""

    async def get(self) -> None:
        if self.query_params().get("flow") is None:
            await self._without_application()
        else:
            await super().get()

    async def show(self, flow: PendingSignIn) -> None:
        step = await self.current_step(flow)
        is_closed = step.page is SignInPage.REGISTER and await registration_organization.is_closed(
            self.service, flow
        )
        # `prompt=create` is ignored where users may not register.
        if step.page is SignInPage.LOGIN_NAME or is_closed:
            await self._ask(flow)
        else:
            self.redirect_303(self.url_of(ADDRESSES[step.page], flow))

    async def _without_application(self) -> None:
        live_sessions = await session_lifetime.find_live(self.service, await self.find_browser())
        await self.show_requested_client()
        if self.requested_id("client_id") is None and len(live_sessions) == 1:
            await self.show_organization(live_sessions[0].subject.organization.id)
        await show_signed_in(self, live_sessions, None)


class RootHandler(PageHandler):
    """Redirects the root address of the service to the sign-in."""

    async def get(self) -> None:
        self.redirect_303(LOGIN)


def problem_of(login_name: str) -> Message | None:
    """Returns the problem of an entered text that cannot be a login name; None if it can be
    one."""
    if not login_name:
        return message("Enter your email or username.", context="login-name")
    if len(login_name) > MAX_CHARACTERS:
        return message("Enter at most 200 characters.", context="login-name")
    if "\0" in login_name:
        return message("Remove the characters that can't be displayed.", context="login-name")
    return None


ROUTES = [
    ("/", RootHandler),
    (LOGIN, LoginHandler),
    (ADDRESSES[SignInPage.LOGIN_NAME], LoginNameHandler),
]
