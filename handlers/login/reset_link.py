"""/ui/reset: the link of a message by which a password is set, in any browser.

Opening the link does not use it up, because mail scanners open links too; only submitting the form
does. The key is moved immediately from the address to a sealed cookie of ten minutes, because
addresses stay in the history and may be passed on. The id of the link stays in the address; by
itself it gives no access. If the sign-in that requested the message waits in this browser, it
continues; otherwise a sign-in to the service's own pages begins.
"""

from __future__ import annotations

from typing import Final

from handlers.http import browser
from handlers.login.flow import ADDRESSES, LOGIN
from handlers.login.new_password import policy_for, problems_of
from handlers.pages import first_cookie
from handlers.pages.base import ForeignForm, PageHandler
from idp import changes
from idp.foundation import logs, uris
from idp.foundation.i18n import message
from idp.identity.guesses import counter_resets
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import email_verification, password_change, reset_links
from idp.identity.users.reset_links import LinkRefused, OpenedLink
from idp.oauth.sign_in import first_party_areas, first_party_sign_in, restart_link
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in import pending as sign_in_pending
from idp.oauth.sign_in.authentication_progress import AuthenticationProgress
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import Browser
from idp.usage import counts
from storage import Stale

_LINK: Final = "link"
_PASSED_PARAMETERS: Final = ("flow", restart_link.PARAMETER, "lang")

_log = logs.logger(__name__)
_REFUSED: Final = message(
    "This link was already used or has expired. Request a new one.", context="reset"
)


class ResetLinkHandler(PageHandler):
    """Asks for the new password. Without a link's key, it redirects to the page on which a message
    with a link is requested."""

    async def get(self) -> None:
        key = self.query_params().if_once("key")
        if key is not None:
            await self._move_key_to_cookie(key)
            return
        flow = await self._find_flow(await self.find_browser())
        if self.query_params().if_once(_LINK) is None:
            await self._redirect_to_request(flow)
            return
        await first_cookie.give(self)
        try:
            await self._ask(flow, await reset_links.find(self.service, self._key()))
        except LinkRefused as error:
            await self._refuse(error)

    async def post(self) -> None:
        # There may be no cookie that a form token could be bound to, so the headers alone decide.
        if browser.may_lack_cookie(self.service.config, self.request):
            raise ForeignForm("the form may have been sent by another site")
        password = self._own_form().get("newPassword") or ""
        flow = await self._find_flow(await self.find_browser())
        try:
            opened_link = await reset_links.find(self.service, self._key())
            problems = await problems_of(self.service, opened_link.subject, password)
            if problems:
                await self._ask(flow, opened_link, status=400, problems=problems)
            else:
                await self._set(flow, opened_link, password)
        except (LinkRefused, Stale) as error:  # Stale: a concurrent request has used the link
            if await self.repeat_cookie():
                self._continue_after(flow)
            else:
                await self._refuse(error)

    def _continue_after(self, flow: PendingSignIn | None) -> None:
        """Redirects to where the first sending of the same form leads."""
        self._set_key_cookie("", max_age=0)
        self.redirect_303(self._url_of(LOGIN, flow) if flow else self._next_path())

    async def _move_key_to_cookie(self, key: str) -> None:
        """Moves the key into the cookie and redirects to the address without it."""
        link_id = reset_links.id_of(key)
        if link_id is None:
            await self._find_flow(await self.find_browser())
            await self._refuse(LinkRefused("the link has no key"))
            return
        sealed = reset_links.seal(self.service, key)
        self._set_key_cookie(sealed, max_age=reset_links.COOKIE_SECONDS)
        parameters = [pair for pair in self._own_query() if pair[0] in _PASSED_PARAMETERS]
        self.redirect_303(uris.with_parameters(reset_links.PAGE, [(_LINK, link_id), *parameters]))

    def _key(self) -> str:
        """Returns the key of the link that the address names. Raises LinkRefused.

        A form that was rendered by the previous release has the key in its address.
        """
        key = self.query_params().if_once("key")
        if key is not None:
            return key
        sealed = self.get_cookie(self._key_cookie) or ""
        link_id = self.query_params().if_once(_LINK) or ""
        return reset_links.unseal(self.service, sealed, link_id)

    def _set_key_cookie(self, value: str, *, max_age: int) -> None:
        config = self.service.config
        header = browser.cookie_header(config, self._key_cookie, value, max_age=max_age)
        self.add_header("Set-Cookie", header)

    @property
    def _key_cookie(self) -> str:
        return browser.cookie_name(self.service.config, "reset")

    async def _set(
        self, flow: PendingSignIn | None, opened_link: OpenedLink, password: str
    ) -> None:
        """Sets the password, uses up the link and signs the user in, in one unit."""
        flow = flow or await self._begin_sign_in()
        # The key was sent by e-mail, so its use verifies the address.
        subject = await changes.run(
            self.service, email_verification.mark_reached, opened_link.subject
        )
        change = await password_change.prepare(
            self.service, subject, password, actor=subject.user.id
        )
        writes = [*change.writes, opened_link.use_write]
        progress = AuthenticationProgress(change.subject, session_lifetime.PASSWORD)
        cookie = await sign_in_flow.continue_with(self.service, flow, progress, *writes)
        counts.count(self.service, "reset", subject.user.org_id)
        # Failed attempts with the old password no longer delay the user.
        await counter_resets.forget(self.service, subject)
        self.set_browser_cookie(cookie)
        self._set_key_cookie("", max_age=0)
        self.redirect_303(self._url_of(LOGIN, flow))

    async def _find_flow(self, browser_record: Browser | None) -> PendingSignIn | None:
        """Returns the sign-in that requested the message if it waits in this browser."""
        await self.show_start()
        address = self.requested_pending_id("flow")
        flow = (
            await sign_in_pending.find(self.service, address, browser_record) if address else None
        )
        if flow is not None:
            self.show_client(flow.client)
            self.let_forms_leave()
        return flow

    async def _begin_sign_in(self) -> PendingSignIn:
        """Begins a sign-in to the service's own pages in this browser. Raises Stale."""
        browser_record = await self.find_browser()
        next_path = self._next_path()
        begun_flow = await first_party_sign_in.begin(
            self.service, first_party_areas.ACCOUNT, next_path, browser_record, self.origin()
        )
        self.set_browser_cookie(begun_flow.cookie)
        current_browser = begun_flow.cookie.browser if begun_flow.cookie else browser_record
        flow = await sign_in_pending.find(self.service, begun_flow.address, current_browser)
        if flow is None:
            raise Stale("auth_requests", begun_flow.address)
        return flow

    def _next_path(self) -> str:
        """Returns the page after the sign-in, which links to the application that started the
        first sign-in."""
        restart_data = self.query_params().if_once(restart_link.PARAMETER)
        start = restart_link.read(self.service, restart_data)
        if start is None or start.client_id in first_party_areas.AREAS:
            return LOGIN
        return uris.with_parameters(LOGIN, [("client_id", start.client_id)])

    async def _redirect_to_request(self, flow: PendingSignIn | None) -> None:
        self.redirect_303(
            self._url_of(ADDRESSES[SignInPage.RESET], flow or await self._begin_sign_in())
        )

    async def _ask(
        self,
        flow: PendingSignIn | None,
        opened_link: OpenedLink,
        *,
        status: int = 200,
        **values: object,
    ) -> None:
        user = opened_link.subject.user
        if flow is None:
            await self.show_organization(user.org_id)
        self.page(
            SignInPage.CHANGE_PASSWORD.value,
            status=status,
            login_name=user.user_name,
            policy=await policy_for(self.service, user),
            **values,
        )

    async def _refuse(self, cause: Exception) -> None:
        _log.info("link refused", cause=str(cause), address=self.address())
        parameters = [pair for pair in self._own_query() if pair[0] in _PASSED_PARAMETERS]
        self._set_key_cookie("", max_age=0)
        self.show_expired(
            sentence=_REFUSED, again_url=uris.with_parameters(reset_links.PAGE, parameters)
        )

    def _url_of(self, path: str, flow: PendingSignIn) -> str:
        """Returns the address of a page of the flow."""
        restart_data = restart_link.of_flow(self.service, flow, self.bundle().tag)
        return uris.with_parameters(
            path, [("flow", flow.address), (restart_link.PARAMETER, restart_data)]
        )


ROUTES = [(reset_links.PAGE, ResetLinkHandler)]
