"""/ui/login/idp-account and /ui/login/idp-link: an account for a person who has signed in at
another identity provider."""

from __future__ import annotations

from typing import Final

from handlers.login.accounts import account_of
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.login.providers import displayed_name
from handlers.login.register import problem_values
from idp.foundation.i18n import message
from idp.foundation.texts import typed_texts
from idp.identity.sessions.lifetime import LiveSession
from idp.oauth.params import Params
from idp.oauth.sign_in import upstream_account
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.oauth.sign_in.upstream_account import (
    CreationRefused,
    NewNames,
    NotPossible,
    WaitingIdentity,
)

_CHANGED: Final = {
    "field": None,
    "text": message(
        "You signed in to a different account in another window. Check the "
        "account shown here, then try again.",
        context="idp-link",
    ),
}


class IdpAccountHandler(FlowHandler):
    """Asks a person whose identity is linked to no user to sign in to an existing account or to
    create one, as far as the connection allows that."""

    async def show(self, flow: PendingSignIn) -> None:
        self._propose(flow, await self._find_identity(flow))

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        waiting_identity = await self._find_identity(flow)
        if form.get("choice") == "other":
            await upstream_account.forget(self.service, flow)
            self.redirect_303(self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow))
            return
        if waiting_identity.organization is None:
            self.redirect_303(self.url_of(LOGIN, flow))
            return
        if form.get("identity") != waiting_identity.id:  # the page has shown another one
            self._propose(flow, waiting_identity, status=400, problems=[_CHANGED])
            return
        await self._create(flow, waiting_identity, _entered_names(form))

    async def _create(
        self, flow: PendingSignIn, waiting_identity: WaitingIdentity, names: NewNames
    ) -> None:
        try:
            cookie = await upstream_account.create(self.service, flow, waiting_identity, names)
        except CreationRefused as error:
            problems = problem_values(error.problems)
            self._ask(flow, waiting_identity, names, status=400, problems=problems)
        else:
            self.set_browser_cookie(cookie)
            self.redirect_303(self.url_of(LOGIN, flow))

    async def _find_identity(self, flow: PendingSignIn) -> WaitingIdentity:
        """Returns the identity that waits for an account. Raises ResponseSent if there is none, or
        another step is due."""
        step = await self.current_step(flow)
        if step.page is not SignInPage.IDP_ACCOUNT:
            self.redirect_instead(self.url_of(LOGIN, flow))
        waiting_identity = await upstream_account.find(self.service, flow)
        if waiting_identity is None:
            await upstream_account.forget(self.service, flow)
            self.redirect_instead(self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow))
        return waiting_identity

    def _propose(
        self,
        flow: PendingSignIn,
        waiting_identity: WaitingIdentity,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        """Sends the page with the names that the provider states."""
        identity = waiting_identity.identity
        # An address that the provider is not trusted to verify can't be a user name.
        is_usable = "@" not in identity.user_name or (
            identity.is_email_trusted and identity.user_name == identity.email
        )
        user_name = identity.user_name if is_usable else ""
        names = NewNames(user_name, identity.given_name, identity.family_name)
        self._ask(flow, waiting_identity, names, status=status, **values)

    def _ask(
        self,
        flow: PendingSignIn,
        waiting_identity: WaitingIdentity,
        names: NewNames,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        may_link = waiting_identity.connection.options.is_linking_allowed
        login_url = self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow) if may_link else None
        self.step(
            SignInPage.IDP_ACCOUNT,
            flow,
            status=status,
            provider=displayed_name(waiting_identity.connection),
            identity=waiting_identity.identity.label,
            identity_id=waiting_identity.id,
            names=names,
            may_create=waiting_identity.organization is not None,
            login_url=login_url,
            **values,
        )


class IdpLinkHandler(FlowHandler):
    """Asks the signed-in user whether the identity at the other provider is to be linked to the
    account."""

    async def show(self, flow: PendingSignIn) -> None:
        live_session, waiting_identity = await self._session_and_identity(flow)
        self._ask(flow, live_session, waiting_identity)

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        live_session, waiting_identity = await self._session_and_identity(flow)
        if form.get("choice") != "link":
            await upstream_account.forget(self.service, flow)
            self.redirect_303(self.url_of(LOGIN, flow))
            return
        if form.get("account") != live_session.session.id:  # the page was shown to another user
            self.redirect_303(self.url_of(LOGIN, flow))
            return
        if form.get("identity") != waiting_identity.id:  # the page has shown another one
            self._ask(flow, live_session, waiting_identity, status=400, problems=[_CHANGED])
            return
        try:
            await upstream_account.link(self.service, flow, live_session, waiting_identity)
        except NotPossible as error:
            problems = [{"field": None, "text": error.text}]
            self._ask(flow, live_session, waiting_identity, status=400, problems=problems)
        else:
            self.redirect_303(self.url_of(LOGIN, flow))

    async def _session_and_identity(
        self, flow: PendingSignIn
    ) -> tuple[LiveSession, WaitingIdentity]:
        """Returns the session of the user who has signed in, and the identity that waits for an
        account. Raises ResponseSent if another step is due."""
        step = await self.current_step(flow)
        if step.page is not SignInPage.IDP_LINK or step.live_session is None:
            self.redirect_instead(self.url_of(LOGIN, flow))
        waiting_identity = await upstream_account.find(self.service, flow)
        if waiting_identity is None or not waiting_identity.connection.options.is_linking_allowed:
            await upstream_account.forget(self.service, flow)
            self.redirect_instead(self.url_of(LOGIN, flow))
        return step.live_session, waiting_identity

    def _ask(
        self,
        flow: PendingSignIn,
        live_session: LiveSession,
        waiting_identity: WaitingIdentity,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        self.step(
            SignInPage.IDP_LINK,
            flow,
            status=status,
            provider=displayed_name(waiting_identity.connection),
            identity=waiting_identity.identity.label,
            identity_id=waiting_identity.id,
            account=account_of(live_session),
            **values,
        )


def _entered_names(form: Params) -> NewNames:
    return NewNames(
        typed_texts.name(form.get("userName") or ""),
        (form.get("givenName") or "").strip(),
        (form.get("familyName") or "").strip(),
    )


ROUTES = [
    (ADDRESSES[SignInPage.IDP_ACCOUNT], IdpAccountHandler),
    (ADDRESSES[SignInPage.IDP_LINK], IdpLinkHandler),
]
